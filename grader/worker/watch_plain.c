/* The plain build on the CPU: launches, copies to the host, and where a kernel or the wrapper fell.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "watch_wrapper.h"

const bool worker_is_checked = false;

/* The first line of what the runtime says; the rest says what to do, to a student at a terminal. */
static void fault(const struct told_fault *told) {
    struct worker_report *r = worker_report();
    const char *what = told->what ? told->what : "an assertion of the kernel failed";
    r->launches = launches_made();
    if (r->bytes_to_host || r->bytes_into_c)
        return; /* that comes first, and has a place of its own */
    snprintf(r->detail, sizeof r->detail, "%.*s", (int)strcspn(what, ";\n"), what);
    watch_place(&told->place);
    worker_tell(WORKER_IN_WRAPPER);
}

void watch_begins(const struct watched_matrix matrices[MATRIX_COUNT], double seconds, bool count,
                  void (*machine_fault)(const char *)) {
    (void)count, (void)machine_fault;
    launch_limit_workers(1); /* the same order each time; other cores run other cases */
    launch_limit_processor_time();
    emulator_time_limit(seconds);
    fault_tell(fault);
    watch_wrapper_begins(&matrices[MATRIX_C], seconds);
}

void watch_ended(const void *wrapper) {
    (void)wrapper;
    watch_wrapper_ended();
    worker_report()->launches = launches_made();
}
