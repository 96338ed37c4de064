/* A worker's watch over the block that it runs: the state that the compiler's calls (access.c) and
 * the runtime's reports (observe.c) feed, and that the detectors look at.
 *
 *     accesses   access.c (loads and stores), observe.c (barriers, copies), host.c (its own)
 *     shadow     shared.c, global.c, with order.c: what came before in the same word
 *     events     detectors/ judge what came out of that, and note mistakes: detector.h, event.h
 *     findings   diagnosis.c, with object.c: ../explain/explain.h
 *
 * Each part calls those below it alone, and the detectors by the table. What is counted and kept
 * (record/) hears of each access as a detector, too, and decides nothing about mistakes.
 *
 * Each word (4 bytes) of memory has a shadow that remembers who wrote and read it last. Threads of
 * a block are unordered between two barriers: two of them that access one word in one such
 * interval, one of them writing, race, in whatever order they happened to run here, unless warp
 * operations, or atomics and fences, order them (order.c). What shared memory's shadow has no room
 * for, and all of global memory, is remembered in shadow cells (cells.c). */
#ifndef ENGINE_WATCH_BLOCK_H
#define ENGINE_WATCH_BLOCK_H
#include "../report/words/threads.h"
#include "shadow/shadow.h"
#include <stddef.h>
#include <stdint.h>

/* What the threads of a block read from shared memory of what others of it have stored there:
 * counted at each access, on the short path too. The shadow cannot say it: once something has been
 * found it remembers no more stores. */
enum { EXCHANGE_THREAD_BITS = 10 };

struct exchange {
    uint32_t *stored_by; /* of each word: block, in so many bits, and thread; null: not counted */
    uint32_t block;      /* the running one's number, which is not 0, where stored_by has it */
    uint64_t read;       /* by it, so far */
};

static inline void exchange_stores(struct exchange *e, size_t word, unsigned thread) {
    e->stored_by[word] = e->block | thread;
}

static inline void exchange_reads(struct exchange *e, size_t word, unsigned thread) {
    const uint32_t difference = e->stored_by[word] ^ (e->block | thread);
    e->read += difference - 1 < (1u << EXCHANGE_THREAD_BITS) - 1;
}

/* --- the watch -------------------------------------------------------------------------------- */

enum { FAST_SPANS = 4 }; /* inputs that the fast path knows; the one with phases is the first */

/* Why all accesses of a block take the slow path: they are recorded; an epoch has no room for a
 * thread's steps; and an index outside of its array, whose access is yet to come. Why those to
 * global memory do: these are recorded; and the audit. */
enum slow_reason {
    SLOW_RECORDER = 1,
    SLOW_STEPS = 2,
    SLOW_INDEX = 4,
    SLOW_GLOBAL_RECORDER = 8,
    SLOW_AUDIT = 16
};

/* A word of shared memory. Two readers, because one of them may be the thread that writes next; of
 * two warps, if there are two; else of the warp's last step. Where barriers and operations of whole
 * warps alone order threads, a write that races with any reader races with one of these. From the
 * interval's first fence or operation of some lanes on (has_pairs), a word that has a third reader
 * goes into cells; readers before that may be lost here. */
struct shared_word {
    epoch write, earlier; /* earlier: the last write of an earlier interval or, before one of the
                             same warp, step; 0: none */
    epoch read, other_read;
};

/* A warp reads that has met since it read before. */
static inline void shared_word_read_again(struct shared_word *s, epoch now) {
    if (!((s->other_read ^ now) & EPOCH_WARP_MASK)) s->other_read = 0;
    s->read = now;
}

/* Remembers a read, in an interval that has no pairs. Nearly every access passes here, so no test
 * is made before it is needed. */
static inline void shared_word_read(struct shared_word *s, epoch interval, epoch now) {
    const epoch differs = s->read ^ now;
    if (s->read < interval)
        s->read = now;
    else if (differs & EPOCH_WARP_MASK)
        s->other_read = now;
    else if (differs & EPOCH_STEP_MASK)
        shared_word_read_again(s, now);
    else if (s->other_read < interval && differs & EPOCH_THREAD_MASK)
        s->other_read = now;
}

/* The elements of an array. */
struct span {
    uintptr_t begin;
    size_t words;
};

struct watch {
    /* What every access reads. */
    uintptr_t shared_begin;
    size_t shared_words; /* 0: accesses to shared memory take the slow path */
    struct shared_word *shadow;
    struct shared_word *bytes; /* one for each byte, of words whose epochs are EPOCH_IN_BYTES */
    struct exchange exchange;
    struct span input[FAST_SPANS];
    struct settled settled;
    uint32_t last_read[MAX_BLOCK_THREADS]; /* word of input[0] that each thread read last, plus 1 */
    struct epochs epochs;
    uintptr_t last_stack_end; /* stack.h's */
    unsigned slow;            /* set of enum slow_reason */

    /* The block, and its memory. */
    struct order *order; /* order.c's */
    const struct launch *launch;
    struct worker_memory memory;
    size_t all_words;     /* of shared memory, with what lies between the arrays */
    size_t dynamic_first; /* word at which dynamic shared memory begins */
    size_t dynamic_words; /* of it, that the shadow knows the block to have */
    bool touched;         /* shared memory, since the shadow was reset */
    struct cells cells;   /* of words of it whose epochs are EPOCH_IN_CELLS */

    /* Its threads, since the block began or (arrived, raced, follows) since the last barrier. */
    unsigned returned, returned_at_barrier;
    struct threads all_returned_at_barrier;
    struct waiting arrived[BARRIER_PLACES];
    const void *last_barrier;
    const struct event *raced; /* the first race of this interval that is kept; null: none */
    bool follows;              /* stores: a race of this interval is kept, on any memory */
    bool guesses;              /* a race of the running thread's is kept back: race.c */
    bool ended;                /* the block: a thread, by a mistake; what it left out is none */
    bool uses_old;             /* the running thread, of the exchange that follows */
    bool synchronizes;         /* the block, so far: uses atomics in global memory, or fences */
    uintptr_t stack_top[MAX_BLOCK_THREADS]; /* where each thread's frames begin */
    uintptr_t deepest;                      /* how far below it frames have been seen */
    bool any_copied;                        /* asynchronously */
    struct {
        uint64_t group; /* of its last such copy, plus 1 */
        epoch interval; /* in which that began */
    } copied[MAX_BLOCK_THREADS];
    uint32_t read_at_barrier[MAX_BLOCK_THREADS]; /* last_read then */

    char *states;                             /* the detectors': detector_state() */
    struct counts *counts;                    /* counts.c's, of this worker */
    uintptr_t failed_swap[MAX_BLOCK_THREADS]; /* a compare-and-swap's address, uncounted; or 0 */
    bool any_compared;                        /* a thread has made one */
    struct watch *next;                       /* of all workers' */
};

/* Null: no kernel runs on this OS thread. */
static inline struct watch *watch_here(void) { return observer_worker; }
/* Null, too, while exchanges are counted, for which loads and stores have another short path. */
static inline struct watch *watch_uncounted(void) { return observer_fast; }

static inline size_t watch_word(const struct watch *w, uintptr_t address) {
    return (address - w->shared_begin) / WORD;
}

static inline bool watch_is_shared(const struct watch *w, uintptr_t address) {
    return address - w->shared_begin < w->all_words * WORD;
}

/* What is remembered of the word at an address of shared memory, or of the byte. */
static inline const struct shared_word *watch_shared_word(const struct watch *w,
                                                          uintptr_t address) {
    const struct shared_word *word = &w->shadow[watch_word(w, address)];
    return word->write == EPOCH_IN_BYTES ? &w->bytes[address - w->shared_begin] : word;
}

/* --- block.c ---------------------------------------------------------------------------------- */

/* This worker's, made. */
struct watch *watch_attach(void);
/* The first of all workers'; null: none has run a block. */
struct watch *watch_first(void);
/* observe.c's, between two blocks: nothing that their threads, so many at most, have left on their
 * stacks is found from now on. Functions that make no slow access may have used any of it: no
 * compiler announces that. Of the two upper pages, where the runtime's frames are, each thread
 * spoils all that it may use. */
void watch_renew_stacks(struct watch *w, unsigned threads);
/* The one over a block, after a fault; null: none runs it. */
const struct watch *watch_of_block(uint64_t block);

/* Whether a recorder has asked for the running block's accesses. */
static inline bool watch_is_recorded(const struct watch *w) {
    return w->slow & (SLOW_RECORDER | SLOW_GLOBAL_RECORDER);
}
/* From now on all of the running block's accesses take the slow path, for this reason; or, if there
 * is no reason left, only those that need it. */
void watch_slowly(struct watch *w, enum slow_reason why);
void watch_fast(struct watch *w, enum slow_reason no_more);
/* Behind order_warp_parts(), order_warp_met() and order_fence(). */
static inline void watch_steps(struct watch *w) {
    if (w->epochs.has_pairs) w->shared_words = 0;
    if (w->epochs.many_steps && !(w->slow & SLOW_STEPS)) watch_slowly(w, SLOW_STEPS);
}

/* --- observe.c -------------------------------------------------------------------------------- */

/* From now on the runtime reports to the detectors. */
void observe_runtime(void);

/* --- shared.c, global.c: the shadow ------------------------------------------------------------
 */

void shared_attach(struct watch *w);
void shared_begin_block(struct watch *w);
void shared_end_interval(struct watch *w);
void shared_access(struct watch *w, const struct access *access);
/* An asynchronous copy has ended. */
void shared_copy_arrived(struct watch *w, const struct access *access);
/* Whether no thread of the block has written any part of a word. */
bool shared_is_unwritten(const struct watch *w, size_t word);

void global_access(struct watch *w, const struct access *access);

/* --- access.c: accesses that do not come from the compiler's calls ---------------------------- */

/* Whatever the fast path does not do: the detectors get the access. */
void access_slowly(const struct access *access);

/* To the audit: the next access of this thread is to these bytes, or to others announced since its
 * last one. access_slowly() has done so for one access; where several are announced before they are
 * made, other threads may have run in between. */
void access_announce(const void *p, size_t size);

/* To the recorders, if the block is recorded: an access to global or shared memory. */
void access_record(struct watch *w, const struct access *access);

#endif
