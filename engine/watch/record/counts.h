/* Counting what a run's kernels load and store, and keeping what one block's tile phases were:
 * plain data that show/phases.c prints. docs/check.md says how each figure is defined. */
#ifndef ENGINE_WATCH_RECORD_COUNTS_H
#define ENGINE_WATCH_RECORD_COUNTS_H
#include "counted.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* From now on launches are counted. Before the first one. */
void counts_watch(void);

/* The launches so far, in their order. Returns how many. */
int counts_launches(const struct counted_launch **launches);

/* --- phases ----------------------------------------------------------------------------------- */

/* A load of an element of an input. */
struct phase_load {
    unsigned thread; /* linear */
    int array;       /* by its number in the run */
    size_t element;
};

/* A shared array that was written in the phase, as it was at the phase's end. */
struct phase_array {
    char name[64];
    int dimensions;
    size_t dimension[5];
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

struct phases {
    char kernel[128];
    unsigned grid[3], block_size[3], block[3];
    int launch; /* counted from 0 */
    struct phase *phases;
    int count;
    int *first[ENGINE_ARRAYS];   /* of each element of an input: the phase that loaded it first,
                                    from 1; 0: none. Null: the array is no input */
    bool *stored[ENGINE_ARRAYS]; /* elements that the block stored, likewise of the others */
};

/* From now on the tile phases of this block are kept, of the first launch in which it loads an
 * input. Behind counts_watch(). */
void phases_watch(unsigned x, unsigned y);

/* Null: nothing was kept. */
const struct phases *phases_kept(void);

#ifdef __cplusplus
}
#endif
#endif
