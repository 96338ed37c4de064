/* Counting what a run's kernels load and store, and keeping what one block's phases were: plain
 * data that show/phases.c prints. docs/look.md says how each figure is defined. */
#ifndef ENGINE_WATCH_RECORD_COUNTS_H
#define ENGINE_WATCH_RECORD_COUNTS_H
#include "../../engine.h"
#include <stdbool.h>

enum {
    SECTOR = 32, /* bytes that move between the L2 cache and a multiprocessor at least */
    BANKS = 32   /* of shared memory, a word wide each */
};

/* --- counts ----------------------------------------------------------------------------------- */

/* The run's arrays come first, by their numbers; then what else is in global memory: what a kernel
 * has stored, or a call of the host's has copied from there or from an input; and, of loads only,
 * what the host has put there, in whatever memory: __constant__ variables, tables. */
enum { COUNTED_OTHER = ENGINE_ARRAYS, COUNTED_CONSTANTS, COUNTED_SHARED, COUNTED_PLACES };
enum counted_way { COUNTED_LOADS, COUNTED_STORES, COUNTED_ATOMICS, COUNTED_WAYS };

struct counted {
    uint64_t elements;  /* that threads asked for: of an array its own, elsewhere words of 4 bytes;
                           less than one counts as one */
    uint64_t requests;  /* instructions of a warp */
    uint64_t bytes;     /* asked for, each byte once a request however many threads want it */
    uint64_t sectors;   /* of global memory, that the requests access */
    uint64_t conflicts; /* of shared memory: passes beyond those that the bytes need */
    unsigned worst;     /* the most words that one request needs from one bank */
};

/* One line of the program that moves more sectors than it asks for bytes, or whose requests meet in
 * a bank. */
struct counted_line {
    char file[512];
    int line;
    int place;
    enum counted_way way;
    struct counted counted;
};
enum { COUNTED_LINES = 6 };

struct counted_launch {
    char kernel[128];
    unsigned grid[3], block[3];
    uint64_t blocks, blocks_ended; /* fewer ended than there are: the launch was stopped early */
    struct counted of[COUNTED_PLACES][COUNTED_WAYS];
    uint64_t barriers, least_barriers, most_barriers; /* in all; in one block */
    uint64_t needed; /* loads of inputs, if each block loaded each element that it uses once */
    /* Elements that a thread read from shared memory where another one of its block had stored them
     * last, and values that warp operations brought it from other lanes. */
    uint64_t exchanged;
    /* Blocks that neither store nor add anything in global memory, so that nothing comes of them:
     * how many, and what they have part of in loads and atomics of global memory but for
     * COUNTED_CONSTANTS, in `needed` and in `exchanged`. */
    uint64_t idle_blocks, idle_loads, idle_needed, idle_exchanged;
    uint64_t passed_over; /* of idle_blocks: did not run, and no other figure has part in them */
    struct counted_line lines[COUNTED_LINES]; /* where most is to gain comes first */
    int line_count;
};

static inline void counted_add(struct counted *sum, const struct counted *more) {
    sum->elements += more->elements;
    sum->requests += more->requests;
    sum->bytes += more->bytes;
    sum->sectors += more->sectors;
    sum->conflicts += more->conflicts;
    if (sum->worst < more->worst) sum->worst = more->worst;
}

/* From now on launches are counted. Before the first one. Without `costs`, only what KEEP_LOADS
 * says. */
void counts_watch(bool costs);

/* The launches so far, in their order. Returns how many. */
int counts_launches(const struct counted_launch **launches);

/* --- phases ----------------------------------------------------------------------------------- */

/* A load of an element of an input. */
struct phase_load {
    int array; /* by its number in the run */
    size_t element;
};

/* A shared array that was written in the phase, as it was at the phase's end. */
struct phase_array {
    char name[64];
    int dimensions;
    size_t dimension[4];
    enum element element;
    size_t count, size;   /* of elements; of all of them, in bytes */
    unsigned char *bytes; /* what they hold */
    int *writer;          /* the thread that stored each value in this phase; -1: none did */
};

/* From one barrier to the next, with loads of inputs between. */
struct phase {
    struct phase_load *loads;
    size_t load_count;
    struct phase_array *arrays;
    int array_count;
};

/* Of one launch, in which the block loads an input. */
struct phases {
    char kernel[128];
    unsigned grid[3], block_size[3], block[3];
    uint64_t number, many; /* of all that were made, from 1; and how many these are */
    struct phase *phases;
    int count;
    int *first[ENGINE_ARRAYS];   /* of each element of an input: the phase that loaded it first,
                                    from 1; 0: none. Null: the array is no input */
    bool *stored[ENGINE_ARRAYS]; /* elements that the block stored, likewise of the others */
};

/* From now on the phases of this block, x, y, are kept, in the launch with this number, from 1; 0:
 * in the first one in which it loads an input. */
void phases_watch(const unsigned block[2], uint64_t launch);

/* Null: there are none. */
const struct phases *phases_shown(void);

#endif
