/* The checker of the CPU backend, as make check (check_run.cu) and the grader's worker use it: one
 * run of a wrapper and its kernels under watch.
 *
 *     checker_begin(&run);
 *     wrapper(...);
 *     struct checked_result result = checker_end();
 *
 * Linked beside the runtime. kernel.cu is compiled with -fsanitize=thread,bounds, whose calls
 * access.c answers instead of libtsan. Nothing behind this interface knows what the kernels
 * compute: the caller says which matrices there are (sgemm.h). */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H
#include "finding.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { CHECKED_MATRICES = 3 }; /* of a run, at most */

/* An allocation of device memory that has a name and a shape, row-major. */
struct checked_matrix {
    const float *elements; /* its beginning */
    const char *name;      /* "A" */
    int rows, cols;
    bool input; /* may be read and not written; of an output, whatever was copied there before, no
                   element counts as written */
    /* Where threads of a two-dimensional grid usually have a row of it by their y, and a column by
     * their x: then an element outside is named as the one that the thread meant. */
    bool row_by_y, column_by_x;
    bool shows_phases; /* of the first one alone: blocks read it from left to right, a tile's
                          width in each phase */
};

/* Blocks of launches that have far more than write anything, of which not all were watched: in all;
 * watched; those that write, all of which were. 0, 0, 0: all blocks of all launches were. */
struct checked_blocks {
    uint64_t all, watched, writing;
};

struct writers; /* ../engine/cuda/runtime/runtime.h */

struct checked_result {
    struct finding finding; /* kind FINDING_NONE: no mistake was seen */
    int launches;           /* that the wrapper made and that were possible */
    struct checked_blocks blocks;
};

/* What to run under watch. Strings and functions must outlive the run; the rest is copied. */
struct checked_run {
    struct checked_matrix matrices[CHECKED_MATRICES]; /* inputs first; without a name: none */
    const void *wrapper; /* the function that will be called, which has to launch; null: none */
    bool counts;         /* loads and stores are counted: counts.h */
    bool phases;         /* the tile phases of this block are kept, likewise */
    unsigned block_x, block_y;
    /* Processor time for a block of a launch, and for all of them; 0: as the runtime has it. */
    double block_seconds, launch_seconds;
    double block_seconds_then; /* the same for a block, once a mistake has been seen; 0: no other */
    /* Launches of so many threads at most run on one core: blocks run in order then, and every run
     * sees the same. 0: as the runtime has it. */
    uint64_t alone_threads;
    /* Of the plain build's run with the same arguments: which blocks write. Called at most once, at
     * a launch with so many threads that it matters; may return null, which means unknown. A null
     * pointer: all blocks are watched. Of those that write nothing a sample is. */
    const struct writers *(*writers)(void);
    /* The process whose memory is the host's; 0: this one. */
    int host_process;
    /* A mistake that ends the program was seen; must not return. */
    void (*stopped)(const struct checked_result *result);
    /* The machine, not the student, is at fault: why, as a literal; must not return. */
    void (*machine_fault)(const char *what);
};

/* From here on allocations, launches and failed calls are the wrapper's. */
void checker_begin(const struct checked_run *run);

/* After the last kernel has ended: what was seen. A leak is no finding yet, because it matters less
 * than a wrong result. */
struct checked_result checker_end(void);

/* Device memory that the wrapper allocated and did not free; kind FINDING_NONE: none. */
struct finding checker_leak(void);

/* A call that failed and whose error the wrapper has asked for, where C is wrong; FINDING_NONE:
 * none. */
struct finding checker_forgotten_failure(void);

/* Gives a finding that has no launch the last one that the wrapper has made, if any: one about what
 * came out of a run. */
void checker_add_launch(struct finding *finding);
/* The same without its line, which takes some milliseconds to find. */
void checker_describe_launch(struct finding *finding);

/* Sets file and line of a party to where a function of the program begins. */
void checker_place(const void *function, struct finding_party *party);

#ifdef __cplusplus
}
#endif
#endif
