/* A mistake as a detector notes it on the spot. Names, lines and words come later, on the host's
 * thread: explain/explain.h. */
#ifndef ENGINE_WATCH_EVENT_H
#define ENGINE_WATCH_EVENT_H
#include "../finding.h"
#include "block.h"

/* Of the shared array that a word is in, what no thread of the block has stored. */
struct unstored {
    enum finding_unstored what;
    size_t first, last; /* rows or columns; SOME: so many, of so many */
};

enum { STORES = 8 };

struct event {
    enum finding_kind kind;
    bool in_kernel, write, atomic;
    bool has_other, other_write, other_atomic;
    bool synchronizes; /* the block of a race on global memory, by atomics, fences or flags */
    const void *code, *other_code; /* behind the instruction */
    const char *file;              /* the location, where the compiler says it; null: from `code` */
    int line;
    struct place place; /* the location, if place.line: known already */
    unsigned thread, other_thread;
    uint64_t block, other_block;
    uint64_t launch; /* number, from 1; 0: before the first, and in what has not been noted yet */
    struct uint3 grid_size, block_size;

    uintptr_t address;
    unsigned size;
    bool in_shared;
    size_t shared_offset, dynamic_offset, dynamic_bytes; /* in thread-local storage */
    uint32_t column; /* the largest index along its phase axis that the block has read of the array
                        that has one, plus 1; 0: none */

    bool overwritten;  /* a race on an element that held an earlier phase's value */
    bool reader_ahead; /* a race with a write that was one turn of a loop before */
    /* A race with a read that was before: its thread has stored words in this interval, too; and
     * the barrier where it waits by now, null: at none. It may wait for its warp, at a place that
     * is not known. */
    bool reader_wrote, reader_in_warp;
    const void *reader_at;
    const void *stores[STORES]; /* lines that have stored into shared memory in this interval */
    /* Plain stores to a race's element by other threads than the first one that is known, in what
     * was left of this interval. */
    const void *stored_again[STORES];
    /* A race between threads of one warp; and in its interval, which has come to its end, threads
     * of two warps do not race. */
    bool within_warp;
    struct unstored unstored; /* an uninitialized read of shared memory */
    bool pending;             /* a race with an asynchronous copy that is pending */
    bool has_index;
    long index; /* the bad one, in an array of type array_type */
    char array_type[64];
    /* Of the block: threads at a barrier, those at another one, and those that have returned. */
    struct threads waiting, elsewhere, returned;
    const void *last_barrier; /* that the block has passed; null: none */
    uint64_t barriers;        /* that it has passed, at least */

    bool frees;        /* a call of the wrapper's frees what it was given */
    bool checked;      /* the wrapper asked for the error of the call or launch that failed, ... */
    bool forgotten;    /* ... by cudaGetLastError(), which forgets it */
    unsigned count;    /* allocations that the wrapper did not free */
    size_t bytes;      /* in all of them */
    cudaError_t error; /* of a call that failed */
    size_t static_bytes;          /* of shared memory, of a launch that was refused */
    struct fault_facts fault;     /* what the runtime says */
    char called[FINDING_SYMBOL];  /* the host function that a kernel calls */
    const struct region *nearest; /* to the address, when it was accessed; null: not known */
};

/* What is kept of a run: the first event; or one of each kind and pair of instructions, in whatever
 * order the two come, as many as there is room for. What could not happen on a GPU, or is hidden,
 * is grave: of those the first is kept, too, and comes before all others. */
enum { EVENTS = 256 };

struct region; /* shadow.h */

/* The place of a key among `count` of them, 0 where one is free, as are all behind it; -1: somebody
 * has it, or there is no room. Without a lock: a worker may be stopped at any instruction. */
int event_claim(uint64_t keys[], int count, uint64_t key);

/* Before the first launch: all that there is room for. */
void event_keep_all(void);
/* From now on, once an event has been noted, a block may take so many seconds of what it takes; 0:
 * as long as before. */
void event_hurries(double block_seconds);
/* Keeps the event, if it is wanted, and returns what is kept; else null. The launch goes on where
 * it can. */
const struct event *event_note(const struct event *event);
/* Takes the place of one that is kept. */
void event_replace(const struct event *kept, const struct event *event);
/* Adds to what is kept of a race: a store to its element, by yet another thread. */
void event_stored_again(const struct event *kept, const void *code);
/* Likewise: it is within_warp. */
void event_within_warp(const struct event *kept);
/* Whether one of this kind, of instructions that return to these (null: none), would be kept.
 * Before what is costly to find out. */
bool event_is_wanted(enum finding_kind kind, const void *code, const void *other_code);
/* Whether no more will be, but for grave ones. */
bool event_enough(void);
/* The event that counts most; null: none, or not yet complete. */
const struct event *event_first(void);
/* All that count: grave ones first, then by their launches, then in the order in which they were
 * noted. Returns how many. */
int event_list(const struct event *events[EVENTS]);
/* Whether some thread has been ended: from then on words may lack a value, and threads wait for it.
 */
bool event_has_ended(void);
/* An event at the running thread's access. */
struct event event_here(const struct watch *w, enum finding_kind kind, const struct access *access);
/* Notes that. */
void event_note_here(const struct watch *w, enum finding_kind kind, const struct access *access);
/* Notes it, too. The launch ends with this error; or, where all that is found is kept, the running
 * thread alone, unless it is grave. */
void event_stop(struct watch *w, enum finding_kind kind, const struct access *access,
                cudaError_t error) __attribute__((noreturn));

/* --- phases ----------------------------------------------------------------------------------- */

/* How far a phase reaches along the phase axis; 0: not known (yet). */
uint32_t event_tile_width(void);
/* A barrier opens: from one phase to the next each thread reads further to the right, by the width
 * of what a phase loads. */
void event_learn_tile_width(struct watch *w);

#endif
