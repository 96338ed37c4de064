/* What a worker sees of the run beside its result. watch_plain.c, watch_checked.c and, on a GPU,
 * watch_cuda.cu each do it in their way; one of them is linked. */
#ifndef WORKER_WATCH_H
#define WORKER_WATCH_H
#include "report.h"

#ifdef __cplusplus
extern "C" {
#endif

struct watched_matrix {
    const char *name;
    const float *elements; /* on the device */
    int rows, cols;
};

/* Whether this is the checked build. */
extern const bool worker_is_checked;

/* Of each launch: processor time for a block and for all of them, and work (runtime.h). On a GPU
 * only `seconds` counts, on the wall. */
struct watch_limits {
    double block_seconds, seconds;
    uint64_t work;
};

/* Around basicSgemm. What is seen goes into worker_report(). watch_ended() does not return when the
 * checker has found something. */
void watch_begins(const struct watched_matrix matrices[MATRIX_COUNT],
                  const struct watch_limits *limits, bool count,
                  void (*machine_fault)(const char *what));
void watch_ended(const void *wrapper); /* basicSgemm, whose place it may have to tell */

/* The state of a worker whose launch was stopped at a limit. */
enum worker_state watch_state_at_limit(void);

/* worker.cu: the report, and writing it out with this state. */
struct worker_report *worker_report(void);
void worker_tell(enum worker_state state);

#ifdef __cplusplus
}
#endif

#endif
