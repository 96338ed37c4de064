/* An access as the shadow of a word remembers it, packed into 64 bits. From the highest bits down:
 *
 *     18  interval  how many barriers the block had passed, plus FIRST_INTERVAL
 *     10  thread    linear index in the block
 *     11  syncs     warp synchronisations of the thread's warp in this interval, 2047 at most
 *      1  exempt    an atomic, or an access of less than a word: it races with nothing
 *     24  code      the instruction, as an offset into the program
 *
 * The interval comes first, so that one comparison of two records says whether an access was made
 * before the running interval: nearly every access needs no more (access.c). */
#ifndef CHECKER_RECORD_H
#define CHECKER_RECORD_H
#include "../emulator/runtime/runtime.h"

typedef uint64_t record;

enum { CODE_BITS = 24, EXEMPT_BIT = 24, SYNCS_BIT = 25, THREAD_BIT = 36, INTERVAL_BIT = 46 };
#define RECORD_CODE_MASK (((record)1 << CODE_BITS) - 1)
#define RECORD_EXEMPT ((record)1 << EXEMPT_BIT)
#define RECORD_SYNCS_MASK ((record)2047 << SYNCS_BIT)
#define RECORD_THREAD_MASK ((record)1023 << THREAD_BIT)
#define RECORD_INTERVAL(number) ((record)(number) << INTERVAL_BIT)
enum { FIRST_INTERVAL = 2, LAST_INTERVAL = (1 << 18) - 2 };

/* Of a word's last write there are four special values. Written before the block began: */
#define RECORD_BEFORE RECORD_INTERVAL(1)
/* The others are later than any interval, so that the fast path leaves them aside. An asynchronous
 * copy to the word is pending; its group, as far as there is room, takes the place of the syncs: */
#define RECORD_PENDING RECORD_INTERVAL(LAST_INTERVAL + 1)
/* No thread has written the word; and: no kernel may access it. */
#define RECORD_NEVER (~(record)1)
#define RECORD_OUTSIDE (~(record)0)

static inline unsigned record_thread(record r) { return (unsigned)(r >> THREAD_BIT) & 1023; }

static inline bool record_is_pending(record r) { return r >= RECORD_PENDING && r < RECORD_NEVER; }

/* The address behind the instruction. */
static inline const void *record_code(record r) {
    extern const char __executable_start[];
    return __executable_start + (r & RECORD_CODE_MASK);
}

/* Whether two accesses of one interval, by different threads, cannot race: one is exempt, or their
 * warp synchronised between them. */
static inline bool record_ordered(record a, record b) {
    bool one_warp = record_thread(a) / WARP_SIZE == record_thread(b) / WARP_SIZE;
    return ((a | b) & RECORD_EXEMPT) ||
           (one_warp && (a & RECORD_SYNCS_MASK) != (b & RECORD_SYNCS_MASK));
}

#endif
