/* The checked build: everything that ../../engine/watch/ finds, and what it counts. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../engine/watch/record/record.h"
#include "calls.h"
#include "watch_wrapper.h"

const bool worker_is_checked = true;

static bool counting;

/* What a launch loaded of global memory, but for constants, and by how many threads. */
struct loaders {
    uint64_t elements, threads;
};

/* The threads of blocks that store something, less what their warps were empty when they loaded;
 * where loads are mostly of a few lone threads, these alone count, of one warp a block. */
static struct loaders loaders_of(const struct counted_launch *launch) {
    uint64_t elements = 0, requests = 0;
    const uint64_t blocks = launch->blocks - launch->idle_blocks;
    const uint64_t block = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    const uint64_t warp = block < WARP_SIZE ? block : WARP_SIZE;
    for (int place = 0; place < COUNTED_CONSTANTS; place++) {
        const struct counted *loads = &launch->of[place][COUNTED_LOADS],
                             *atomics = &launch->of[place][COUNTED_ATOMICS];
        elements += loads->elements + atomics->elements;
        requests += loads->requests + atomics->requests;
    }
    if (elements >= warp * requests) return (struct loaders){elements, blocks * block};
    const bool lone = 4 * elements < warp * requests;
    return (struct loaders){elements,
                            (lone ? blocks * warp : blocks * block) * elements / (warp * requests)};
}

/* Of blocks that store something; an atomic operation loads and stores. */
static uint64_t accesses_of(const struct counted_launch *launch) {
    uint64_t elements = 0;
    for (int place = 0; place < COUNTED_CONSTANTS; place++)
        for (int way = 0; way < COUNTED_WAYS; way++)
            elements += launch->of[place][way].elements << (way == COUNTED_ATOMICS);
    return elements - launch->idle_loads;
}

static int fewest_first(const void *a, const void *b) {
    const struct loaders *x = a, *y = b;
    return (x->threads > y->threads) - (x->threads < y->threads);
}

/* So many that no more than half of what a kernel has to load is loaded by launches of fewer:
 * inputs may come by way of copies, and launches that copy, or load what nobody needs, may have any
 * number of threads. Changes the order of the launches. */
static uint64_t threads_of(struct loaders *launches, int count) {
    const uint64_t half = lab_least_loads(&lab, &watched_run.arrays.shape) / 2;
    uint64_t elements = 0;
    qsort(launches, (size_t)count, sizeof *launches, fewest_first);
    for (int i = 0; i < count; i++)
        if ((elements += launches[i].elements) > half) return launches[i].threads;
    return 0;
}

static void keep_counts(void) {
    const struct counted_launch *launches;
    struct worker_report *r = worker_report();
    const int count = counts_launches(&launches);
    struct loaders *loaders = calloc((size_t)count + 1, sizeof *loaders);
    if (!loaders) watched_run.machine_fault("out of memory for counts");
    r->counted = count > 0;
    for (int i = 0; i < count; i++) {
        if (launches[i].blocks_ended < launches[i].blocks) r->counted = false;
        loaders[i] = loaders_of(&launches[i]);
        r->accesses += accesses_of(&launches[i]);
    }
    const struct counted_reuse reuse = reuse_counted();
    r->loads = reuse.loads;
    r->loads_once_per_block = reuse.needed;
    r->exchanged = reuse.exchanged;
    r->threads = threads_of(loaders, count);
    free(loaders);
}

/* Of the finding, or the last one: C may be wrong. */
static void keep_launch(const struct finding *finding) {
    struct worker_report *r = worker_report();
    struct finding found = *finding;
    engine_add_launch(&found, false);
    r->launch = found.launch;
}

/* The host's code, in its process. */
static void stopped(const struct engine_result *result) {
    worker_report()->finding = result->finding;
    worker_write_report(WORKER_STOPPED);
    _exit(EXIT_WRONG);
}

static const struct writers *writers(void) { return watched_run.writers; }

static void begin_to_check(const struct watched *watched) {
    struct engine_run run = host_run(&watched->arrays.shape, watched->arrays.elements);
    counting = watched->count;
    if (counting) run.keeps = KEEP_LOADS;
    run.writers = writers;
    run.stopped = stopped;
    run.machine_fault = watched->machine_fault;
    run.host_process = host_process_id();
    engine_begin(&run);
}

/* --- the host's process ----------------------------------------------------------------------- */

/* It knows where the arrays are, and has none. */
static void reserve_arrays(const struct watched *watched) {
    const struct host_arrays *arrays = &watched->arrays;
    for (int i = 0; i < arrays->layout.arrays; i++)
        if (memory_reserve(arrays->elements[i], arrays->layout.bytes[i]))
            observer->allocated((char *)arrays->elements[i], arrays->layout.bytes[i], true);
}

static void run_wrapper(const struct watched *watched) {
    reserve_arrays(watched);
    begin_to_check(watched);
    watch_wrapper_begins(watched);
    host_call(&watched->arrays);
    watch_limit_time(0);
}

/* --- the device's ----------------------------------------------------------------------------- */

void watch_starts(void) { host_process_start(run_wrapper); }

void watch_begins(const struct watched *watched) {
    watch_launches(watched);
    begin_to_check(watched);
}

static enum worker_state state_after(enum finding_kind kind) {
    switch (kind) {
    case FINDING_DEADLOCK: return WORKER_DEADLOCK;
    case FINDING_ENDLESS: return WORKER_ENDLESS;
    case FINDING_TIME_LIMIT: return WORKER_TIME_LIMIT;
    default: return WORKER_STOPPED;
    }
}

/* Of what the host's process reports, nothing but where its code was stopped, and why; where it has
 * ended by itself, what was seen in this one before. */
void watch_calls(const struct watched *watched) {
    struct worker_report said = host_process_run(watched);
    struct worker_report *r = worker_report();
    if (said.state == WORKER_RETURNED) return;
    if (said.finding.kind == FINDING_HOST_FAULT) {
        engine_findings(&said.finding, 1); /* what was seen before it */
    } else if (said.state == WORKER_IN_WRAPPER) {
        struct engine_result seen;
        engine_exited(&seen);
        if (seen.finding.kind == FINDING_NONE) host_process_end_likewise();
        said = (struct worker_report){.state = state_after(seen.finding.kind),
                                      .finding = seen.finding};
    }
    r->finding = said.finding;
    r->line = said.line;
    memcpy(r->file, said.file, sizeof r->file);
    memcpy(r->detail, said.detail, sizeof r->detail);
    r->launches = launches_made();
    keep_launch(&said.finding);
    worker_write_report(said.state);
    _exit(EXIT_WRONG);
}

/* A finding that lets the run go on (a race, say) leaves a result for the judge to compare. */
void watch_ended(void) {
    struct worker_report *r = worker_report();
    struct engine_result result;
    engine_end(&result);
    watch_wrapper_ended();
    r->launches = result.launches;
    r->blocks = result.blocks.all;
    r->blocks_watched = result.blocks.watched;
    r->finding = result.finding;
    if (r->finding.kind == FINDING_NONE) engine_leak(&r->finding);
    keep_launch(&r->finding);
    watch_arrays_are_allocated();
    if (counting) keep_counts();
}

enum worker_state watch_state_at_limit(void) {
    const enum worker_state state = state_after(worker_report()->finding.kind);
    return state == WORKER_STOPPED ? WORKER_TIME_LIMIT : state;
}
