/* Counting what a run's kernels load and store, and keeping what one block's phases were: plain
 * data that show/phases.c prints. docs/look.md says how each figure is defined. */
#ifndef ENGINE_WATCH_RECORD_COUNTS_H
#define ENGINE_WATCH_RECORD_COUNTS_H
#include "counted.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* Of one launch. */
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

enum { PHASES_LAUNCHES = 8 };

/* From now on the phases of this block are kept, of the first PHASES_LAUNCHES launches in which it
 * loads an input. Of more, the last one that is kept gives way to the one with this number, from 1,
 * which phases_shown() is about; 0: it is the first one. Behind counts_watch(). */
void phases_watch(unsigned x, unsigned y, uint64_t launch);

/* The launches of which something is kept so far, in their order; the caller does not own them. */
int phases_launches(const struct phases **launches);

/* The one that was asked for. Null: nothing of it was kept. */
const struct phases *phases_shown(void);

#ifdef __cplusplus
}
#endif
#endif
