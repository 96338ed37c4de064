/* Tests of how engine/cuda/runtime/launch.c waits for a launch, with a clock, a processor and a
 * queue in front of it that are simulated: a kernel that sleeps is stopped, and one that waits for
 * its turn on a busy machine is not. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

enum { LIMIT = 1, WHOLE_LAUNCH = 1000, PROCESSOR_TIME = 1000 };

/* Of a second that passes, so much the worker waits for a processor; else it sleeps. */
static double now, queued, share;

static int simulated_gettime(clockid_t clock, struct timespec *time) {
    const double seconds = clock == PROCESSOR_TIME ? 0 : now;
    *time = (struct timespec){.tv_sec = (time_t)seconds};
    return 0;
}

static int simulated_getcpuclockid(pthread_t thread, clockid_t *clock) {
    (void)thread;
    *clock = PROCESSOR_TIME;
    return 0;
}

static int simulated_timedwait(sem_t *event, const struct timespec *deadline) {
    (void)event;
    (void)deadline;
    now += 1;
    queued += share;
    errno = ETIMEDOUT;
    return now < WHOLE_LAUNCH ? -1 : 0;
}

static FILE *simulated_open(const char *path, const char *mode) {
    static char text[64];
    (void)path;
    (void)mode;
    snprintf(text, sizeof text, "0 %.0f 1\n", queued * 1e9);
    return fmemopen(text, sizeof text, "r");
}

#define clock_gettime simulated_gettime
#define pthread_getcpuclockid simulated_getcpuclockid
#define sem_timedwait simulated_timedwait
#define fopen simulated_open
#include "../../engine/cuda/runtime/launch.c"

#include "../check.h"

/* Of the rest of the runtime, to which nothing here comes. */
struct dim3 blockDim, gridDim;
const struct far_device *far_device;
const struct observer *observer;
__asm__(".weak cpu_count, error_set, error_set_by_launch, error_set_sticky, error_sticky\n"
        ".weak fault_happened, fault_install, fault_other_signals, fault_raise, fault_report\n"
        ".weak fault_report_limit, fault_see_worker, fault_stop_workers, fault_thread_stack\n"
        ".weak fault_wake\n"
        ".weak function_check_shared, memory_close, memory_open, stream_exists\n"
        ".weak worker_attach, worker_create\n"
        ".weak worker_in_kernel, worker_run_block, writers_block_ended, writers_launch_begins\n"
        ".weak writers_launch_ended\n");

/* When the launch is stopped, or has ended. */
static double ends(double waits_for_a_processor) {
    struct worker worker = {.steps = 1};
    struct taken taken;
    now = 0;
    queued = 123; /* in earlier launches */
    share = waits_for_a_processor;
    pool.workers = (struct worker *[]){&worker};
    pool.count = 1;
    pool.limits =
        (struct time_limits){.block_seconds = LIMIT, .seconds = 2 * LIMIT, .processor_time = true};
    CHECK(wait_in_time(&taken) == (now >= WHOLE_LAUNCH));
    return now;
}

TEST(a_kernel_that_sleeps_is_stopped) { CHECK(ends(0) == 10 * LIMIT); }

TEST(a_kernel_that_waits_for_a_processor_is_not) {
    CHECK(ends(1) == WHOLE_LAUNCH);
    CHECK(ends(0.5) > 15 * LIMIT && ends(0.5) < 25 * LIMIT); /* it sleeps half of the time */
}
