/* Accesses, and what is remembered of them: what the rest of this folder is built on.
 *
 * An epoch is an access as the shadow of a word remembers it, packed into 64 bits. From the highest
 * bits down:
 *
 *     18  interval  how many barriers the block had passed, plus FIRST_INTERVAL
 *     10  thread    linear index in the block
 *     11  step      warp operations and fences of the thread in this interval, modulo 2048
 *      1  strong    as order.h has it: it races with no other strong access
 *     24  code      the instruction, as an offset into the program
 *
 * The interval comes first, so that one comparison of two epochs says whether an access was made
 * before the running interval: nearly every access needs no more (access.c). */
#ifndef ENGINE_WATCH_SHADOW_EPOCH_H
#define ENGINE_WATCH_SHADOW_EPOCH_H
#include "../../cuda/runtime/runtime.h"
#include "../../report/words/threads.h"

enum { WORD = 4 };

typedef uint64_t epoch;

enum { CODE_BITS = 24, STRONG_BIT = 24, STEP_BIT = 25, THREAD_BIT = 36, INTERVAL_BIT = 46 };
#define EPOCH_CODE_MASK (((epoch)1 << CODE_BITS) - 1)
#define EPOCH_STRONG ((epoch)1 << STRONG_BIT)
#define EPOCH_STEP_MASK ((epoch)2047 << STEP_BIT)
enum { EPOCH_STEPS = 2048 };
#define EPOCH_THREAD_MASK ((epoch)1023 << THREAD_BIT)
#define EPOCH_WARP_MASK (EPOCH_THREAD_MASK & ~((epoch)(WARP_SIZE - 1) << THREAD_BIT))
#define EPOCH_INTERVAL(number) ((epoch)(number) << INTERVAL_BIT)
enum { FIRST_INTERVAL = 2, LAST_INTERVAL = (1 << 18) - 2 };

/* Of a word's last write there are special values. Written before the block began: */
#define EPOCH_BEFORE EPOCH_INTERVAL(1)
/* The others are later than any interval, so that the fast path leaves them aside. An asynchronous
 * copy to the word is pending; its group, as far as there is room, takes the place of the step: */
#define EPOCH_PENDING EPOCH_INTERVAL(LAST_INTERVAL + 1)
/* The word's bytes have a shadow of their own (block.h), or its cells are what counts (cells.h); no
 * thread has written the word; and: no kernel may access it. */
#define EPOCH_IN_BYTES (~(epoch)3)
#define EPOCH_IN_CELLS (~(epoch)2)
#define EPOCH_NEVER (~(epoch)1)
#define EPOCH_OUTSIDE (~(epoch)0)

static inline unsigned epoch_thread(epoch r) { return (unsigned)(r >> THREAD_BIT) & 1023; }

static inline bool epoch_is_pending(epoch r) { return r >= EPOCH_PENDING && r < EPOCH_IN_BYTES; }

/* The address behind the instruction. */
static inline const void *epoch_code(epoch r) {
    extern const char __executable_start[];
    return __executable_start + (r & EPOCH_CODE_MASK);
}

/* An access by a thread of the running block. */
struct access {
    uintptr_t address;
    unsigned size;
    bool write, atomic, is_volatile;
    bool strong;  /* as order.h has it */
    bool copying; /* an asynchronous copy begins, of the thread's group with this number */
    uint64_t group;
    const void *old;  /* what an atomic operation that has taken effect has replaced, or null */
    const void *code; /* behind the instruction */
};

/* The threads that wait at one barrier. */
struct waiting {
    const void *code; /* behind the call; null: there are none */
    struct threads threads;
};
enum { BARRIER_PLACES = 2 };

/* Of a vector, an element or a part of one; longer ones are ranges. */
static inline bool access_is_misaligned(const struct access *access) {
    return access->size <= 16 && access->address % access->size != 0;
}

/* When and by whom an access was made. */
struct stamp {
    uint64_t where; /* from the highest bits down: 32 block, 20 launch (0: before all), 12 of the
                       thread's step, beyond those in `when` */
    epoch when;     /* 0: never */
};
enum { STAMP_LAUNCH_BITS = 20, STAMP_STEP_BITS = 12 };

static inline uint64_t stamp_block(const struct stamp *s) {
    return s->where >> (STAMP_LAUNCH_BITS + STAMP_STEP_BITS);
}
/* All of it. */
static inline uint32_t stamp_step(const struct stamp *s) {
    return (uint32_t)(s->where % (1 << STAMP_STEP_BITS)) * EPOCH_STEPS +
           (uint32_t)((s->when & EPOCH_STEP_MASK) >> STEP_BIT);
}

/* How far the running block and its threads are. */
struct epochs {
    epoch interval;                  /* since the last barrier */
    epoch thread[MAX_BLOCK_THREADS]; /* each one's epoch but for the code */
    uint64_t block;
    unsigned threads;        /* in a block */
    struct threads returned; /* of them, in this block */
    /* In this interval: of a thread, more steps than an epoch has room for; and an operation that
     * orders some threads of a warp, or a fence, has been made. */
    bool many_steps, has_pairs;
};

/* The epoch of an access by the running thread from `code`. */
static inline epoch epoch_now(const struct epochs *e, const void *code) {
    extern const char __executable_start[];
    return e->thread[running_index.linear] + ((uintptr_t)code - (uintptr_t)__executable_start);
}

#endif
