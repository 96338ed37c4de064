/* An access as the shadow of a word remembers it, packed into 64 bits. From the highest bits down:
 *
 *     18  interval  how many barriers the block had passed, plus FIRST_INTERVAL
 *     10  thread    linear index in the block
 *     11  step      warp operations and fences of the thread in this interval, modulo 2048
 *      1  strong    as order.h has it: it races with no other strong access
 *     24  code      the instruction, as an offset into the program
 *
 * The interval comes first, so that one comparison of two records says whether an access was made
 * before the running interval: nearly every access needs no more (access.c). */
#ifndef ENGINE_WATCH_EPOCH_H
#define ENGINE_WATCH_EPOCH_H
#include "../cuda/runtime/runtime.h"

typedef uint64_t record;

enum { CODE_BITS = 24, STRONG_BIT = 24, STEP_BIT = 25, THREAD_BIT = 36, INTERVAL_BIT = 46 };
#define RECORD_CODE_MASK (((record)1 << CODE_BITS) - 1)
#define RECORD_STRONG ((record)1 << STRONG_BIT)
#define RECORD_STEP_MASK ((record)2047 << STEP_BIT)
enum { RECORD_STEPS = 2048 };
#define RECORD_THREAD_MASK ((record)1023 << THREAD_BIT)
#define RECORD_WARP_MASK (RECORD_THREAD_MASK & ~((record)(WARP_SIZE - 1) << THREAD_BIT))
#define RECORD_INTERVAL(number) ((record)(number) << INTERVAL_BIT)
enum { FIRST_INTERVAL = 2, LAST_INTERVAL = (1 << 18) - 2 };

/* Of a word's last write there are special values. Written before the block began: */
#define RECORD_BEFORE RECORD_INTERVAL(1)
/* The others are later than any interval, so that the fast path leaves them aside. An asynchronous
 * copy to the word is pending; its group, as far as there is room, takes the place of the step: */
#define RECORD_PENDING RECORD_INTERVAL(LAST_INTERVAL + 1)
/* The word's marks are what counts (cells.h); no thread has written the word; and: no kernel may
 * access it. */
#define RECORD_IN_MARKS (~(record)2)
#define RECORD_NEVER (~(record)1)
#define RECORD_OUTSIDE (~(record)0)

static inline unsigned record_thread(record r) { return (unsigned)(r >> THREAD_BIT) & 1023; }

static inline bool record_is_pending(record r) {
    return r >= RECORD_PENDING && r < RECORD_IN_MARKS;
}

/* The address behind the instruction. */
static inline const void *record_code(record r) {
    extern const char __executable_start[];
    return __executable_start + (r & RECORD_CODE_MASK);
}

#endif
