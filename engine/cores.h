/* Work for all cores: for a lab's fills and verdict, which may be large. */
#ifndef ENGINE_CORES_H
#define ENGINE_CORES_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* The number of threads of what runs on all cores; 0, the default: one per core. */
void set_threads(int threads);

enum { MAX_WORKERS = 256 };

/* Threads for `count` pieces of `work` elementary steps in all: starting one takes as long as some
 * hundred thousand steps, so small problems stay in the caller's. */
int worker_count(size_t count, double work);

/* body(context, worker, index) for each index below count, each by whichever of `workers` threads
 * is free; worker is 0 .. workers - 1, and 0 is the caller's thread. */
typedef void parallel_body(void *context, int worker, size_t index);

struct parallel_job {
    parallel_body *body;
    void *context;
    size_t count;
    atomic_size_t next;
};

void parallel_run(struct parallel_job *job, int workers);

#endif
