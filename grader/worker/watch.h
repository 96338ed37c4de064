/* What a worker sees of the run beside its result. watch_plain.c, watch_checked.c and, on a GPU,
 * watch_cuda.cu are three implementations; one of them is linked. */
#ifndef WORKER_WATCH_H
#define WORKER_WATCH_H
#include "report.h"
#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "../../engine/cuda/include/cuda_runtime_api.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this is the checked build. */
extern const bool worker_is_checked;

struct writers;

/* Of each launch: processor time for a block and for all of them, and work (runtime.h). On a GPU
 * only `seconds` counts, on the wall. */
struct watch_limits {
    double block_seconds, seconds;
    uint64_t work;
};

/* A call of the wrapper. */
struct watched {
    struct host_arrays arrays;
    struct watch_limits limits;
    bool count; /* loads, in the checked build */
    /* Which blocks write (../../engine/cuda/runtime/runtime.h): the plain build notes it there, and
     * the checked one reads it. */
    struct writers *writers;
    void (*machine_fault)(const char *what);
};

/* At the program's beginning, before the inputs are in this process. */
void watch_starts(void);

/* Calls the wrapper. */
void watch_calls(const struct watched *watched);

/* Around it. What is seen goes into worker_report(). watch_ended() does not return when the checker
 * has found something with which the program cannot go on. */
void watch_begins(const struct watched *watched);
void watch_ended(void);

/* The error that the wrapper has left, if any; and in words what failed, where that is known. Its
 * place goes into the report. */
cudaError_t watch_left_error(char what[MESSAGE_SIZE]);

/* The state of a worker whose launch was stopped at a limit. */
enum worker_state watch_state_at_limit(void);

/* worker.cu: the report, and writing it out with this state. */
struct worker_report *worker_report(void);
void worker_write_report(enum worker_state state);

/* From now on it is written there, and to no file. */
void worker_report_to(struct worker_report *memory);

/* Whether some of these bytes of device memory are in an array that is no input. */
static inline bool watch_reaches_output(const struct watched *w, const char *first, size_t bytes) {
    for (int i = 0; i < w->arrays.layout.arrays; i++) {
        const char *begin = (const char *)w->arrays.elements[i];
        if (lab.arrays[i].role != ROLE_INPUT && bytes && first + bytes > begin &&
            first < begin + w->arrays.layout.bytes[i])
            return true;
    }
    return false;
}

#ifdef __cplusplus
}
#endif

#endif
