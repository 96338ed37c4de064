/* Work spread over all cores: a list of pieces, and threads that take the next one. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "cores.h"
#include "report/text/numbers.h"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static int forced_threads; /* set_threads() */

void set_threads(int threads) { forced_threads = threads; }

static int core_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN); /* more cores than cpu_set_t holds */
    return online > 0 ? (int)min_size((size_t)online, MAX_WORKERS) : 1;
}

int worker_count(size_t count, double work) {
    const double steps_per_worker = 400e3;
    int wanted = forced_threads;
    if (wanted <= 0) {
        double useful = work / steps_per_worker;
        int cores = core_count();
        wanted = useful < cores ? (int)useful : cores;
    }
    wanted = min_int(wanted, MAX_WORKERS);
    if ((size_t)wanted > count) wanted = (int)count;
    return max_int(wanted, 1);
}

struct parallel_worker {
    struct parallel_job *job;
    int number;
    pthread_t thread;
};

static void *parallel_work(void *argument) {
    struct parallel_worker *worker = argument;
    struct parallel_job *job = worker->job;
    size_t index;
    while ((index = atomic_fetch_add(&job->next, 1)) < job->count)
        job->body(job->context, worker->number, index);
    return NULL;
}

void parallel_run(struct parallel_job *job, int workers) {
    struct parallel_worker worker[MAX_WORKERS];
    int started = 1;
    for (int i = 0; i < workers; i++) worker[i] = (struct parallel_worker){.job = job, .number = i};
    /* Where a thread cannot be had, the others do its share. */
    while (started < workers &&
           pthread_create(&worker[started].thread, NULL, parallel_work, &worker[started]) == 0)
        started++;
    parallel_work(&worker[0]);
    for (int i = 1; i < started; i++) pthread_join(worker[i].thread, NULL);
}
