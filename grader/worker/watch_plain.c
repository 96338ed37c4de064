/* The plain build on the CPU: launches, copies to the host, and where a kernel or the wrapper fell.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "../../engine/cuda/program/program.h"
#include "watch_wrapper.h"

const bool worker_is_checked = false;
static enum fault_code code;

/* The wrapper's last launch. Its name is looked up when the run ends. */
static struct last_launch {
    const void *kernel; /* null: none */
    struct dim3 grid, block;
    size_t shared;
} last;

static void launched(const void *kernel, struct dim3 grid, struct dim3 block, size_t shared) {
    last = (struct last_launch){kernel, grid, block, shared};
}

static void keep_launches(void) {
    struct worker_report *r = worker_report();
    char symbol[512];
    r->launches = launches_made();
    if (!last.kernel) return;
    r->launch = (struct finding_launch){
        .grid = {last.grid.x, last.grid.y, last.grid.z},
        .block = {last.block.x, last.block.y, last.block.z},
        .shared_bytes = last.shared,
    };
    image_symbol_name(last.kernel, symbol, sizeof symbol);
    kernel_name(symbol[0] ? symbol : "kernel", r->launch.kernel, sizeof r->launch.kernel);
    const struct lab_array *output = &lab.arrays[lab_first_output(&lab)];
    snprintf(r->launch.output, sizeof r->launch.output, "%s", output->name);
    r->launch.dimensions = output->dimensions;
    lab_extents(output, &watched_run.arrays.shape, r->launch.extent);
}

/* Without advice, which is for a student at a terminal. */
static void fault(const struct fault *f) {
    struct worker_report *r = worker_report();
    struct fault_facts facts = f->facts;
    keep_launches();
    if (facts.code == FAULT_NONE) facts.code = FAULT_ASSERTION; /* printed already */
    code = facts.code;
    if (r->bytes_to_host || r->bytes_into_output)
        return; /* that comes first, and has its location already */
    fault_say(&facts, r->detail, sizeof r->detail);
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
    watch_arrays_are_allocated();
}

enum worker_state watch_state_at_limit(void) {
    switch (code) {
    case FAULT_DEADLOCK: return WORKER_DEADLOCK;
    case FAULT_ENDLESS: return WORKER_ENDLESS;
    default: return WORKER_TIME_LIMIT;
    }
}
