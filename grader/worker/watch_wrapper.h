/* What both builds for the CPU see of the wrapper alike: copies that it needs for one thing only,
 * to multiply on the host, and how long it takes. Included by one file of each. */
#ifndef WORKER_WATCH_WRAPPER_H
#define WORKER_WATCH_WRAPPER_H
#include "../../emulator/runtime/runtime.h"
#include "watch.h"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

enum { WATCH_FRAMES = 16 };
static struct watched_matrix watched_c;
static struct watch_limits watched_limits;
static volatile int watch_alarms;

/* Into the report. */
static inline void watch_place(const struct place *place) {
    struct worker_report *r = worker_report();
    snprintf(r->file, sizeof r->file, "%.*s", (int)sizeof r->file - 1, place->file);
    r->line = place->line;
}

/* Where the program stands, likewise. */
static inline void watch_here_and_now(void) {
    void *frames[WATCH_FRAMES];
    const struct place place = place_find(frames, fault_backtrace(frames, WATCH_FRAMES));
    watch_place(&place);
}

/* --- copies: from the device, and from the host into C ---------------------------------------- */

static inline bool watch_is_in_c(const char *address) {
    const char *begin = (const char *)watched_c.elements;
    return address >= begin &&
           address < begin + (size_t)watched_c.rows * (size_t)watched_c.cols * sizeof(float);
}

/* Told at once: the wrapper may end the program. */
static inline void watch_copy(const struct memory_copy *copy) {
    struct worker_report *r = worker_report();
    const bool to_host = copy->from_device && !copy->to_device;
    const bool into_c = !copy->from_device && copy->to_device &&
                        (watch_is_in_c(copy->to) || watch_is_in_c(copy->to + copy->bytes - 1));
    if (!to_host && !into_c) return;
    if (!r->bytes_to_host && !r->bytes_into_c) watch_here_and_now();
    if (to_host) r->bytes_to_host += copy->bytes;
    if (into_c) r->bytes_into_c += copy->bytes;
    worker_tell(WORKER_IN_WRAPPER);
}

/* --- time ------------------------------------------------------------------------------------- */

static inline void watch_limit_time(double seconds) {
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    setitimer(ITIMER_PROF, &timer, NULL); /* processor time of the whole process */
}

/* Launches have limits of their own; this one is for the wrapper around them, and a little later.
 * While a launch runs it is put off, but not past what one launch may take. */
static inline void watch_time_is_up(int signal) {
    struct worker_report *r = worker_report();
    (void)signal;
    watch_alarms++;
    if (launch_is_running() &&
        watch_alarms * watched_limits.block_seconds < watched_limits.seconds) {
        watch_limit_time(watched_limits.block_seconds);
        return;
    }
    snprintf(r->detail, sizeof r->detail, "basicSgemm was still running at its time limit");
    watch_here_and_now();
    worker_tell(WORKER_TIME_LIMIT);
    _exit(EXIT_WRONG);
}

/* --- both ------------------------------------------------------------------------------------- */

static inline void watch_wrapper_begins(const struct watched_matrix *c,
                                        const struct watch_limits *limits) {
    const double later = 0.5;
    launch_limit_workers(1); /* the same order each time; other cores run other cases */
    launch_limit_time(&(struct time_limits){.block_seconds = limits->block_seconds,
                                            .seconds = limits->seconds,
                                            .work = limits->work,
                                            .processor_time = true});
    watched_limits = *limits;
    const struct sigaction action = {.sa_handler = watch_time_is_up, .sa_flags = SA_ONSTACK};
    watched_c = *c;
    memory_watch_copies(watch_copy);
    sigaction(SIGPROF, &action, NULL);
    watch_limit_time(limits->block_seconds + later);
}

static inline void watch_wrapper_ended(void) {
    watch_limit_time(0);
    memory_watch_copies(NULL);
}

#endif
