/* The plain build on the CPU: launches, copies to the host, and where a kernel or the wrapper fell.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "watch_wrapper.h"

const bool worker_is_checked = false;
static enum fault_kind kind;

/* The runtime's first line; the others are advice for a student at a terminal. */
static void fault(const struct fault *f) {
    struct worker_report *r = worker_report();
    const char *what = f->what ? f->what : "an assertion of the kernel failed";
    r->launches = launches_made();
    kind = f->kind;
    if (r->bytes_to_host || r->bytes_into_c)
        return; /* that comes first, and has its location already */
    snprintf(r->detail, sizeof r->detail, "%.*s", (int)strcspn(what, ";\n"), what);
    watch_place(&f->place);
    worker_write_report(WORKER_IN_WRAPPER);
}

void watch_begins(const struct watched *watched) {
    fault_handle(fault);
    watch_wrapper_begins(watched);
}

void watch_ended(void) {
    watch_wrapper_ended();
    worker_report()->launches = launches_made();
    worker_report()->work = launches_work();
}

enum worker_state watch_state_at_limit(void) {
    switch (kind) {
    case FAULT_DEADLOCK: return WORKER_DEADLOCK;
    case FAULT_ENDLESS: return WORKER_ENDLESS;
    default: return WORKER_TIME_LIMIT;
    }
}
