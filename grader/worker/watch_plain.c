/* The plain build on the CPU: launches, copies to the host, and where a kernel or the wrapper fell.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "../../engine/cuda/program/kernel_name.h"
#include "../../engine/report/launch.h"
#include "watch_wrapper.h"

const bool worker_is_checked = false;
static enum fault_kind kind;

/* The wrapper's last launch. Its words are made when the run ends. */
static struct {
    const void *kernel; /* null: none */
    struct launch_shape shape;
} last;

static void launched(const void *kernel, struct dim3 grid, struct dim3 block, size_t shared) {
    last.kernel = kernel;
    last.shape = (struct launch_shape){.grid = {grid.x, grid.y, grid.z},
                                       .block = {block.x, block.y, block.z},
                                       .dynamic_shared = shared};
}

static void keep_launches(void) {
    struct worker_report *r = worker_report();
    char symbol[512];
    r->launches = launches_made();
    if (!last.kernel) return;
    image_symbol_name(last.kernel, symbol, sizeof symbol);
    kernel_name(symbol[0] ? symbol : "kernel", last.shape.kernel, sizeof last.shape.kernel);
    lab_launch_text(&lab, &last.shape, &watched_run.arrays.shape, r->launch);
}

/* The runtime's first line; the others are advice for a student at a terminal. */
static void fault(const struct fault *f) {
    struct worker_report *r = worker_report();
    const char *what = f->what ? f->what : "an assertion of the kernel failed";
    keep_launches();
    kind = f->kind;
    if (r->bytes_to_host || r->bytes_into_output)
        return; /* that comes first, and has its location already */
    snprintf(r->detail, sizeof r->detail, "%.*s", (int)strcspn(what, ";\n"), what);
    watch_place(&f->place);
    worker_write_report(WORKER_IN_WRAPPER);
}

void watch_starts(void) {}

void watch_begins(const struct watched *watched) {
    fault_handle(fault);
    emulator_on_launch(launched);
    writers_note(watched->writers);
    watch_launches(watched);
}

void watch_calls(const struct watched *watched) {
    watch_wrapper_begins(watched);
    host_call(&watched->arrays);
}

void watch_ended(void) {
    watch_wrapper_ended();
    emulator_on_launch(NULL);
    keep_launches();
    worker_report()->work = launches_work();
}

cudaError_t watch_left_error(char what[MESSAGE_SIZE]) { return watch_first_error(what); }

enum worker_state watch_state_at_limit(void) {
    switch (kind) {
    case FAULT_DEADLOCK: return WORKER_DEADLOCK;
    case FAULT_ENDLESS: return WORKER_ENDLESS;
    default: return WORKER_TIME_LIMIT;
    }
}
