/* The accesses of a few blocks of each of a run's launches, with their threads, intervals and
 * values, in the order in which they were made: plain data that trace.c collects; recover.c finds
 * index formulas in it. */
#ifndef ENGINE_WATCH_RECORD_TRACE_H
#define ENGINE_WATCH_RECORD_TRACE_H
#include "../../engine.h"
#include "../shadow/epoch.h"

/* Arrays by number: first the run's; from TRACE_SHARED on the shared arrays. */
enum { TRACE_SHARED = ENGINE_ARRAYS, TRACE_ARRAYS = TRACE_SHARED + 16 };

enum { TRACE_BYTES = 16 }; /* of one access, at most */

struct trace_access {
    const void *code;  /* behind the instruction */
    int64_t offset;    /* in elements, from the array's first; may lie outside of it */
    uint32_t interval; /* barriers that the block had passed */
    unsigned char bytes[TRACE_BYTES]; /* of its elements: what a load gets, and what a store leaves;
                                         behind those of an atomic operation, what it replaced */
    uint16_t thread;                  /* linear index in its block */
    uint8_t block;                    /* number in struct trace */
    uint8_t array;
    uint8_t elements;
    bool write, atomic;
    bool valued; /* `bytes` are known: not of elements outside of all allocations, nor of the store
                    with which a run was stopped */
};

/* A shared array that the blocks accessed. */
struct trace_array {
    char name[64];
    size_t offset; /* in thread-local storage */
    enum element element;
    size_t elements;
    int dimensions; /* 0: dynamic shared memory, or not known */
    size_t dimension[4];
};

/* A barrier that opened: where it is in the program, and the interval that it ended. */
struct trace_barrier {
    const void *code; /* behind the call */
    uint32_t interval;
    uint8_t block;
    struct waiting at[BARRIER_PLACES]; /* the second one where threads waited in two lines */
    struct threads returned;
};

enum { TRACE_BLOCKS = 18, TRACE_LAUNCHES = 8 };

/* Of one launch. */
struct trace {
    uint64_t launch; /* its number, from 1 */
    const void *kernel;
    unsigned grid[3], block[3];
    unsigned blocks[TRACE_BLOCKS][3];
    int block_count;
    struct trace_access *access;
    size_t count;
    struct trace_barrier *barrier; /* of these blocks, in order */
    size_t barrier_count;
    bool loads_input; /* one of these accesses is a load of an element of an input */
    /* Where threads of the last block were when its launch was stopped. */
    bool stopped;
    struct waiting waiting[BARRIER_PLACES];
    struct threads returned;
    bool ended;    /* all blocks of the launch came to their end */
    bool complete; /* nothing was left out for lack of room */
    bool plain; /* the blocks' threads share nothing but whole elements of arrays and shared arrays,
                   and are ordered by barriers alone: no atomics, asynchronous copies, warp
                   synchronizations, no other memory */
    struct trace_array shared[TRACE_ARRAYS - TRACE_SHARED];
    int shared_count;
};

/* The elements of this array, by its number; and how large one is. */
enum element trace_element(const struct trace *trace, int array);
size_t trace_element_bytes(const struct trace *trace, int array);

struct watch;

/* Which elements of an array an access is to: sets their array, offset, elements and valued. A
 * shared array that is new is added to the trace. False: it has no place for the access, which is
 * to no array, or not to whole elements. */
bool trace_find(struct trace *t, const struct watch *w, const struct access *access,
                struct trace_access *found);

/* One of the shared arrays by its number. */
static inline const struct trace_array *trace_shared(const struct trace *t, int array) {
    return &t->shared[array - TRACE_SHARED];
}

/* From now on accesses to arrays and shared arrays are kept, of each launch's first two and its
 * last block in each direction, of the first TRACE_LAUNCHES launches. Of more, the last one that is
 * kept gives way to the one that trace_shown() is about. Before the first launch.
 *
 * `launch` is the number of the one that trace_shown() is about, from 1; 0: the first one that
 * loads an input, because one that loads none computes nothing of them.
 *
 * Where `block` is not null, x, y, z, of this block alone, and of that launch alone; and an access
 * outside of all allocations is kept as one of the nearest array. */
void trace_watch(uint64_t launch, const unsigned *block);

/* The launches of which something is kept so far, in their order; the caller does not own them. */
int trace_launches(const struct trace *const **launches);

/* The one that was asked for; without blocks where there is none. */
const struct trace *trace_shown(void);

#endif
