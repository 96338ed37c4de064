/* host.h: the one host of a lab. Sets up its arrays on the device, calls the submission's wrapper,
 * and brings the arrays back: for make check, the grader's worker, the recorder. main.cu does the
 * same in the open, for people to read.
 *
 * Parts: memory.c: sizes and places. data.c is plain C and allocates on the host: a case's
 * arrays, filled. host.cu is CUDA, compiled for each backend, and knows no fill and no seed: what
 * runs a submission for the grader links memory.c, host.cu, the lab's lab.c and call.cu alone. */
#ifndef ENGINE_HOST_HOST_H
#define ENGINE_HOST_HOST_H
#include "../lab.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- memory.c --------------------------------------------------------------------------------- */

/* Arrays in one block of memory, one buffer after the other: [guard | elements | guard]. The same
 * on the host and in the files between the grader's judge and its worker. All in bytes. */
struct host_layout {
    int arrays;
    size_t offset[LAB_ARRAYS]; /* of a buffer, from the beginning of the block */
    size_t guard[LAB_ARRAYS];  /* each of the two, as far as it is whole; 0: there are none */
    size_t bytes[LAB_ARRAYS];  /* of the elements */
    size_t buffer[LAB_ARRAYS]; /* a multiple of 256; the second guard is what is left of it */
    size_t all;
};

/* Guards have at least 64 rows of the widest extent, so that a block that hangs over the edge lands
 * in them, and 64 K to 4 M elements. */
struct host_layout host_layout_of(const struct lab *lab, const struct shape *shape, bool guards);

/* Bytes of host memory that a plain run and its verdict take with these parameters (device memory
 * not counted). */
size_t memory_needed(const struct shape *shape);

/* --- data.c ----------------------------------------------------------------------------------- */

/* Arrays of a case on the host. */
struct host_data {
    struct lab_case which;
    struct host_layout layout;
    unsigned char *memory; /* owned; null: there was none */
    void *elements[LAB_ARRAYS];
};

/* Inputs filled, the others poisoned, guards set. The caller ends it with data_free(). */
struct host_data data_new(const struct lab_case *which, bool guards);
/* Room for them without guards and without values. */
struct host_data data_room_for(const struct lab_case *which);
/* Room of the same layout. */
struct host_data data_room(const struct host_data *like);
void data_free(struct host_data *data);

/* What a verdict is made of: inputs as they were sent, and the others as they came back. */
void data_judged(const struct host_data *sent, const struct host_data *back,
                 const void *arrays[LAB_ARRAYS]);

/* What an array that came back says about stray writes: elements of an input that differ from what
 * was sent, and words of four bytes of its guards. */
struct damage {
    uint64_t elements, before, after;
};
struct damage data_damage(const struct host_data *sent, const struct host_data *back, int array);

/* --- host.cu ---------------------------------------------------------------------------------- */

/* What of an array's buffer is on the device. */
enum host_placing {
    HOST_GUARDED, /* all of it: a plain run */
    HOST_BARE,    /* the elements alone, whose bounds are then the allocation's: a watched run */
    HOST_SPACED /* the elements, with 1 MiB on both sides: a watched run that goes on past an index
                   that is outside */
};

struct host_arrays {
    struct shape shape;
    struct host_layout layout; /* of the host's memory */
    enum host_placing placing;
    void *allocated[LAB_ARRAYS], *elements[LAB_ARRAYS]; /* on the device */
};

/* Takes the place of cudaMalloc: returns a cudaError_t. */
typedef int host_allocator(void **pointer, size_t bytes);

/* Allocates arrays->allocated and sets arrays->elements; the other members are the caller's. A null
 * allocator is cudaMalloc. Returns null, or in one line what failed, which is the machine's fault,
 * as in all of these. The caller ends it with host_free(). */
const char *host_allocate(struct host_arrays *arrays, host_allocator *allocate);

/* Sends values from a block of memory laid out as arrays->layout says: of all arrays, or of the
 * inputs alone; then the others hold what cudaMalloc gave. */
const char *host_send(const struct host_arrays *arrays, const void *from);
const char *host_send_inputs(const struct host_arrays *arrays, const void *from);

/* Calls the wrapper, and nothing else: who times, limits or watches it does so around this. */
static inline void host_call(const struct host_arrays *arrays) {
    lab_call.call(&arrays->shape, arrays->elements);
}

/* Brings them back. What was not on the device stays as it is there. */
const char *host_bring_back(const struct host_arrays *arrays, void *to);

const char *host_free(const struct host_arrays *arrays);

/* A run of the wrapper with these arrays, for the engine; the caller completes it. */
struct engine_run host_run(const struct shape *shape, void *const elements[LAB_ARRAYS]);

#ifdef __cplusplus
}
#endif
#endif
