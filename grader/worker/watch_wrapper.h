/* What both builds for the CPU see of the wrapper: copies that only a product on the host needs,
 * and how long it takes. Included by one file of each. */
#ifndef WORKER_WATCH_WRAPPER_H
#define WORKER_WATCH_WRAPPER_H
#include "../../engine/cuda/runtime/runtime.h"
#include "watch.h"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum { WATCH_FRAMES = 16 };
static struct watched watched_run;
static volatile int watch_alarms, watch_launches_before;

/* Into the report. */
static inline void watch_place(const struct place *place) {
    struct worker_report *r = worker_report();
    snprintf(r->file, sizeof r->file, "%.*s", (int)sizeof r->file - 1, place->file);
    r->line = place->line;
}

/* Where the program is now, likewise. */
static inline void watch_current_place(void) {
    void *frames[WATCH_FRAMES];
    const struct place place = place_find(frames, fault_backtrace(frames, WATCH_FRAMES));
    watch_place(&place);
}

cudaError_t watch_left_error(char what[MESSAGE_SIZE]) {
    struct failed_call call;
    const cudaError_t error = error_first(&call);
    if (error == cudaSuccess) return error;
    failed_call_describe(&call, what, MESSAGE_SIZE);
    if (call.place.line) watch_place(&call.place);
    return error;
}

/* --- copies: from the device, and from the host into an output -------------------------------- */

/* Reported at once: the wrapper may end the program. */
static inline void watch_copy(const struct memory_copy *copy) {
    struct worker_report *r = worker_report();
    const bool to_host = copy->from_device && !copy->to_device;
    const bool into_output = !copy->from_device && copy->to_device &&
                             watch_reaches_output(&watched_run, copy->to, copy->bytes);
    if (!to_host && !into_output) return;
    if (!r->bytes_to_host && !r->bytes_into_output) watch_current_place();
    if (to_host) r->bytes_to_host += copy->bytes;
    if (into_output) r->bytes_into_output += copy->bytes;
    worker_write_report(WORKER_IN_WRAPPER);
}

/* --- time ------------------------------------------------------------------------------------- */

static inline void watch_limit_time(double seconds) {
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    setitimer(ITIMER_PROF, &timer, NULL); /* processor time of the whole process */
}

/* Kernel time limits are the runtime's; this one covers the wrapper, and is a little later. It is
 * put off while a launch runs, or if one began since the last alarm; but not past what one may
 * take. */
static inline void watch_time_is_up(int signal) {
    struct worker_report *r = worker_report();
    (void)signal;
    watch_alarms++;
    const struct watch_limits *limits = &watched_run.limits;
    const bool launches = launch_is_running() || launches_made() != watch_launches_before;
    if (launches && watch_alarms * limits->block_seconds < limits->seconds) {
        watch_launches_before = launches_made();
        watch_limit_time(limits->block_seconds);
        return;
    }
    snprintf(r->detail, sizeof r->detail, "%s was still running at its time limit", lab.wrapper);
    watch_current_place();
    r->launches = launches_made();
    worker_write_report(WORKER_TIME_LIMIT);
    _exit(EXIT_WRONG);
}

/* --- both ------------------------------------------------------------------------------------- */

/* Where kernels run. */
static inline void watch_launches(const struct watched *watched) {
    const struct watch_limits *limits = &watched->limits;
    watched_run = *watched;
    launch_limit_workers(1); /* the same order each time; other cores run other cases */
    launch_limit_time(&(struct time_limits){.block_seconds = limits->block_seconds,
                                            .seconds = limits->seconds,
                                            .work = limits->work,
                                            .processor_time = true});
    memory_watch_copies(watch_copy);
}

/* Where the wrapper does. */
static inline void watch_wrapper_begins(const struct watched *watched) {
    const double later = 0.5;
    const struct sigaction action = {.sa_handler = watch_time_is_up, .sa_flags = SA_ONSTACK};
    watched_run = *watched;
    sigaction(SIGPROF, &action, NULL);
    watch_limit_time(watched->limits.block_seconds + later);
}

static inline void watch_wrapper_ended(void) {
    watch_limit_time(0);
    memory_watch_copies(NULL);
}

/* Does not return where an array is not: it could not be brought back. */
static inline void watch_arrays_are_allocated(void) {
    const struct host_arrays *arrays = &watched_run.arrays;
    struct worker_report *r = worker_report();
    for (int i = 0; i < arrays->layout.arrays; i++) {
        if (memory_is_device(arrays->allocated[i])) continue;
        snprintf(r->detail, sizeof r->detail, "%s frees %s, which it was given", lab.wrapper,
                 lab.arrays[i].name);
        worker_write_report(WORKER_STOPPED);
        _exit(EXIT_WRONG);
    }
}

#endif
