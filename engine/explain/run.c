/* One run of a wrapper under watch. */
#include "../engine.h"
#include "../report/launch.h"
#include "../report/text.h"
#include "../watch/detectors/calls.h"
#include "../watch/launches.h"
#include "../watch/machine.h"
#include "../watch/record/counts.h"
#include "../watch/surplus.h"
#include "diagnosis.h"
#include "object.h"
#include <inttypes.h>
#include <string.h>

static struct checked_run run;

/* From the program's beginning on: matrices are allocated before a run begins. */
__attribute__((constructor)) static void observe(void) { observe_runtime(); }

static struct place place_of(const void *function) {
    void *address = (void *)(uintptr_t)function;
    return place_find(&address, 1);
}

void checker_place(const void *function, struct finding_party *party) {
    const struct place place = place_of(function);
    *party = party_at(&place);
}

/* --- launches --------------------------------------------------------------------------------- */

static const struct checked_matrix *output(void) {
    for (int i = 0; i < CHECKED_MATRICES; i++)
        if (run.matrices[i].name && !run.matrices[i].input) return &run.matrices[i];
    return NULL;
}

static void say_launch(struct finding_launch *launch, const struct checked_matrix *matrix) {
    struct launch_shape shape = {.dynamic_shared = launch->shared_bytes};
    memcpy(shape.kernel, launch->kernel, sizeof shape.kernel);
    memcpy(shape.grid, launch->grid, sizeof shape.grid);
    memcpy(shape.block, launch->block, sizeof shape.block);
    launch_describe(&shape, matrix->name, matrix->rows, matrix->cols, launch->text);
}

/* The launch with this number, and which one it is where there are several; without its line. */
static bool describe_launch(struct finding *f, uint64_t number) {
    if (!output() || !launches_find(number, &f->launch)) return false;
    say_launch(&f->launch, output());
    if (launches_noted() > 1)
        APPEND(f->launch.text, "; launch %" PRIu64 " of %" PRIu64, number, launches_noted());
    return true;
}

static void add_launch(struct finding *f, uint64_t number) {
    if (!describe_launch(f, number)) return;
    const struct place place = launches_place(number);
    const struct finding_party at = party_at(&place);
    memcpy(f->launch.file, at.file, sizeof f->launch.file);
    f->launch.line = at.line;
}

void checker_add_launch(struct finding *finding) {
    if (!finding->launch.kernel[0]) add_launch(finding, launches_noted());
}

void checker_describe_launch(struct finding *finding) {
    if (!finding->launch.kernel[0]) describe_launch(finding, launches_noted());
}

/* --- the run ---------------------------------------------------------------------------------- */

/* What has been seen so far. */
static struct checked_result result(void) {
    struct checked_result r = {.launches = (int)launches_noted(), .blocks = surplus_seen()};
    const struct event *event = event_first();
    if (event) r.finding = diagnose(event);
    if (event) add_launch(&r.finding, event->launch);
    return r;
}

static void stopped(void) {
    const struct checked_result r = result();
    run.stopped(&r);
}

void checker_begin(const struct checked_run *asked) {
    run = *asked;
    machine_on_fault(run.machine_fault);
    for (int i = 0; i < CHECKED_MATRICES; i++)
        if (run.matrices[i].name) region_name(i, &run.matrices[i]);
    if (run.alone_threads) launch_run_alone(run.alone_threads);
    if (run.block_seconds > 0)
        launch_limit_time(&(struct time_limits){.block_seconds = run.block_seconds,
                                                .seconds = run.launch_seconds,
                                                .processor_time = true});
    if (run.counts || run.phases) counts_watch();
    if (run.phases) phases_watch(run.block_x, run.block_y);
    event_hurries(run.block_seconds_then);
    surplus_begin(run.writers);
    host_begin(run.host_process, stopped);
}

struct checked_result checker_end(void) {
    host_end();
    host_note_failure();
    struct checked_result r = result();
    if (r.finding.kind == FINDING_NONE && !r.launches && run.wrapper) {
        const struct event event = {.kind = FINDING_NO_LAUNCH, .place = place_of(run.wrapper)};
        r.finding = diagnose(&event);
    }
    return r;
}

struct finding checker_forgotten_failure(void) {
    const struct event *event = host_forgotten_failure();
    return event ? diagnose(event) : (struct finding){.kind = FINDING_NONE};
}

struct finding checker_leak(void) {
    struct event event = {.kind = FINDING_LEAK};
    for (const struct region *r = region_first(); r; r = r->next) {
        if (!r->in_wrapper || r->freed || !r->bytes) continue;
        event.bytes += r->bytes;
        event.count++;
        event.place = place_find(r->frames, r->frame_count); /* the last is the first allocated */
    }
    return event.count ? diagnose(&event) : (struct finding){.kind = FINDING_NONE};
}
