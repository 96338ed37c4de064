/* CUDA on the CPU, watched: what a host gives the engine, and what it gets back.
 *
 *     const struct engine_run run = {.arrays = {...}, .wrapper = wrapper, ...};
 *     struct engine_result result;
 *     engine_begin(&run);
 *     wrapper(...);                       // allocates, copies, launches
 *     cudaDeviceSynchronize();
 *     engine_end(&result);
 *
 * Linked beside the runtime. A .cu file is compiled with -fsanitize=thread,bounds, whose calls
 * access.c answers instead of libtsan. The engine knows nothing of what the kernels compute: a host
 * may tell it which arrays there are, and may not. A program with a main() of
 * its own names none, and gives no wrapper.
 *
 * One run at a time. All functions are called on the thread that calls the wrapper. Strings and
 * functions that a run names must outlive it; the rest is copied. */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H
#include "finding.h"
#include "report/element_type.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- arrays ----------------------------------------------------------------------------------- */

enum role {
    ROLE_SCRATCH, /* may be read once written, and written */
    ROLE_INPUT,   /* holds values; may be read and not written */
    ROLE_OUTPUT,  /* whatever was copied there before, no element counts as written */
    ROLE_IN_OUT   /* holds values; may be read and written */
};

static inline bool role_has_values(enum role role) {
    return role == ROLE_INPUT || role == ROLE_IN_OUT;
}
static inline bool role_is_output(enum role role) {
    return role == ROLE_OUTPUT || role == ROLE_IN_OUT;
}

enum { ENGINE_ARRAYS = 8, ENGINE_DIMENSIONS = 3 };

/* An array of device memory that has a name and a shape, the last index running fastest. It may be
 * a part of what cudaMalloc gave: what is around it is outside. */
struct engine_array {
    const void *elements; /* on the device; null ends a list */
    const char *name;
    enum element element;
    uint32_t element_bytes; /* of ELEMENT_BYTES; else 0 */
    enum role role;
    int dimensions;
    int64_t extent[ENGINE_DIMENSIONS];
    /* The axis along which a block moves on from phase to phase, so that findings can say in which
     * phase of how many; -1: none. Of the first array that has one. */
    int phase_axis;
    /* Which axis threads of a grid of as many dimensions usually have by their x, y and z, so that
     * an element outside is named as the one that a thread meant; -1: none. */
    int axis_of[3];
};

/* --- a run ------------------------------------------------------------------------------------ */

/* What is kept beside findings, to be asked for when the run has ended: watch/record/record.h.
 * Each turns the short path off for the blocks that it is about. Counts are of all launches;
 * accesses of up to eight, of which `launch` is always one; phases of that one. */
enum engine_keeps {
    KEEP_COUNTS = 1, /* loads, stores, sectors, conflicts, of all blocks */
    KEEP_PHASES = 2, /* what `block` loads between barriers, and its shared arrays then */
    KEEP_TRACE = 4,  /* each access of the first two blocks and the last one in each direction */
    KEEP_BLOCK = 8,  /* the same of `block` alone, of `launch` alone */
    KEEP_LOADS = 16  /* of KEEP_COUNTS what says how often each element is loaded and what threads
                        read of each other: requests of global memory alone, and neither sectors nor
                        lines. Shared memory keeps its short path */
};

struct engine_limits { /* 0: as the runtime has it */
    /* Processor time for a block of a launch, and for all of them. */
    double block_seconds, launch_seconds;
    double block_seconds_then; /* the same for a block, once a mistake has been seen; 0: no other */
    /* Launches of so many threads at most run on one core: blocks run in order then, and every run
     * sees the same. */
    uint64_t alone_threads;
};

/* Blocks of launches that have far more than write anything, of which not all were watched: in all;
 * watched; those that write, all of which were. 0, 0, 0: all blocks of all launches were. */
struct engine_blocks {
    uint64_t all, watched, writing;
};

struct vocabulary;
struct writers; /* ../engine/cuda/runtime/runtime.h */

struct engine_result {
    struct finding finding; /* kind FINDING_NONE: no mistake was seen */
    int launches;           /* that the wrapper made and that were possible */
    struct engine_blocks blocks;
};

struct engine_run {
    struct engine_array arrays[ENGINE_ARRAYS]; /* none, too */
    const struct vocabulary *words;            /* report/vocabulary.h; null: the engine's own */
    const void *wrapper; /* the function that will be called: where a run without a launch points
                            to; null: then none is no mistake */
    unsigned keeps;      /* set of enum engine_keeps */
    unsigned block[3];   /* x, y, z */
    uint64_t launch;     /* which one is asked for, from 1; 0: the first that loads an input */
    struct engine_limits limits;
    bool all_findings; /* of different places; a thread that cannot go on ends, and the others do.
                          Else the first one counts, and what follows is not looked at */
    /* Of the plain build's run with the same arguments: which blocks write. Called at most once, at
     * a launch with so many threads that it matters; may return null, which means unknown. A null
     * pointer: all blocks are watched. Of those that write nothing a sample is. */
    const struct writers *(*writers)(void);
    int host_process; /* whose memory is the host's; 0: this process */
    /* A mistake ended the run: host code that dereferences a device pointer, say. Must not return.
     */
    void (*stopped)(const struct engine_result *result);
    /* The machine, not the program, is at fault: why, as a literal. Must not return. */
    void (*machine_fault)(const char *what);
};

/* From here on allocations, launches and failed calls are the wrapper's. */
void engine_begin(const struct engine_run *run);

/* After the last kernel has ended: what was seen. What the wrapper has not freed is no finding yet,
 * because it matters less than a wrong result: engine_leak(). */
void engine_end(struct engine_result *result);

/* Instead, where the wrapper has ended the program: what was seen until then, or else a call that
 * failed, with SLOT_EXITED; FINDING_NONE: nothing. */
void engine_exited(struct engine_result *result);

/* All that was seen, at different places: the grave ones first, then in the order of the run; as
 * many as there is room for. Returns how many. After engine_end(). */
int engine_findings(struct finding findings[], int room);

/* Device memory that the wrapper allocated and did not free; kind FINDING_NONE: none. */
void engine_leak(struct finding *finding);

/* A call that failed and whose error the wrapper has asked for, where the result is wrong;
 * FINDING_NONE: none. */
void engine_forgotten_failure(struct finding *finding);

/* Of elements of the output that nobody has written: where no kernel has stored to any, and one has
 * stored to memory that the wrapper allocated, adds the name of that, and the store. */
void engine_add_store(struct finding *finding);

/* Gives a finding that has no launch the last one that the wrapper has made, if any: one about what
 * came out of a run. With `where`, its line too, which takes some milliseconds to find. */
void engine_add_launch(struct finding *finding, bool where);

/* The launch with this number, from 1, that the wrapper has made; with `where`, its line too.
 * False: it has made none such, or of many, it is neither one of the first nor of the last. */
bool engine_find_launch(uint64_t number, bool where, struct finding_launch *launch);

/* Sets file and line of a party to where a function of the program begins. */
void engine_place(const void *function, struct finding_party *party);

#ifdef __cplusplus
}
#endif
#endif
