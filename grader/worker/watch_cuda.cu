// On a GPU: launches, copies that only a result made on the host needs, and the time limit.
//
// The checked run of the same submission is made on the CPU: nothing here looks at memory.
#include <cuda_runtime.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "on_gpu.h"
#include "watch.h"

const bool worker_is_checked = false;

void watch_starts(void) {}

void watch_calls(const struct watched *watched) { host_call(&watched->arrays); }

static bool watching;
static struct watched watched_run;

// ------------------------------------------------------------------ copies ----------------------

static void look_at_rows(const void *to, size_t pitch, const void *from, size_t width,
                         size_t height, cudaStream_t) {
    struct worker_report *r = worker_report();
    const size_t bytes = height ? (height - 1) * pitch + width : 0;
    if (!watching) return;
    const bool to_device = points_to_device(to), from_device = points_to_device(from);
    if (from_device && !to_device) r->bytes_to_host += bytes;
    if (!from_device && to_device && watch_reaches_output(&watched_run, (const char *)to, bytes))
        r->bytes_into_output += bytes;
    if (r->bytes_to_host || r->bytes_into_output) worker_write_report(WORKER_IN_WRAPPER);
}

WRAP_BOTH(cudaMemcpy, LIST(void *to, const void *from, size_t bytes, cudaMemcpyKind kind),
          LIST(to, from, bytes, kind), look_at_rows(to, bytes, from, bytes, 1, stream))
WRAP_BOTH(cudaMemcpy2D,
          LIST(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
               size_t height, cudaMemcpyKind kind),
          LIST(to, to_pitch, from, from_pitch, width, height, kind),
          look_at_rows(to, to_pitch, from, width, height, stream))

// Each launch asks once for what stood in its <<<>>>.
WRAP(__cudaPopCallConfiguration, (dim3 * grid, dim3 *block, size_t *shared, void *stream),
     (grid, block, shared, stream), worker_report()->launches += watching, )

// ------------------------------------------------------------------ the time limit --------------

// Seconds on the wall, because a GPU's time is not processor time.
static void time_is_up(int) {
    struct worker_report *r = worker_report();
    const char text[] = "it was still running at its time limit";
    memcpy(r->detail, text, sizeof text);
    worker_write_report(WORKER_TIME_LIMIT);
    _exit(EXIT_WRONG);
}

static void set_alarm(double seconds) {
    struct itimerval timer = {};
    timer.it_value.tv_sec = (time_t)seconds;
    timer.it_value.tv_usec = (suseconds_t)((seconds - (double)timer.it_value.tv_sec) * 1e6);
    setitimer(ITIMER_REAL, &timer, NULL);
}

void watch_begins(const struct watched *watched) {
    const char *problem = native_code_problem();
    if (problem) watched->machine_fault(problem);
    watched_run = *watched;
    signal(SIGALRM, time_is_up);
    set_alarm(watched->limits.seconds);
    watching = true;
}

void watch_ended(void) {
    watching = false;
    set_alarm(0);
}

cudaError_t watch_left_error(char what[MESSAGE_SIZE]) {
    snprintf(what, MESSAGE_SIZE, "cudaGetLastError() after %s", lab.wrapper);
    return cudaGetLastError();
}

enum worker_state watch_state_at_limit(void) {
    return WORKER_TIME_LIMIT; // the driver's, on a GPU with a display
}
