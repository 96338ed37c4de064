/* One run of a wrapper under watch. */
#include "../engine.h"
#include "../report/words/vocabulary.h"
#include "../watch/detector.h"
#include "../watch/launches.h"
#include "../watch/machine.h"
#include "../watch/record/record.h"
#include "explain.h"
#include <string.h>

static struct engine_run run;

/* From the program's beginning on: arrays are allocated before a run begins. */
__attribute__((constructor)) static void observe(void) {
    detectors_attach();
    observe_runtime();
}

static struct place place_of_code(const void *function) {
    return place_find(&(void *){(void *)(uintptr_t)function}, 1);
}

void engine_place(const void *function, struct finding_party *party) {
    *party = party_at(place_of_code(function));
}

/* --- launches --------------------------------------------------------------------------------- */

/* The first output that is named, if any: launches are shown beside it. */
static void set_output(struct finding_launch *launch) {
    int i = 0;
    while (i < ENGINE_ARRAYS && !(run.arrays[i].elements && role_is_output(run.arrays[i].role)))
        i++;
    if (i == ENGINE_ARRAYS) return;
    snprintf(launch->output, sizeof launch->output, "%s", run.arrays[i].name);
    launch->dimensions = run.arrays[i].dimensions;
    memcpy(launch->extent, run.arrays[i].extent, sizeof run.arrays[i].extent);
}

bool engine_find_launch(uint64_t number, bool where, struct finding_launch *launch) {
    if (!launches_find(number, launch)) return false;
    launch->number = number;
    launch->of = launches_noted();
    set_output(launch);
    if (!where) return true;
    const struct finding_party at = party_at(launches_place(number));
    memcpy(launch->file, at.file, sizeof launch->file);
    launch->line = at.line;
    return true;
}

void engine_add_launch(struct finding *finding, bool where) {
    if (!finding->launch.kernel[0]) engine_find_launch(launches_noted(), where, &finding->launch);
}

/* --- the run ---------------------------------------------------------------------------------- */

static struct finding finding_of(const struct event *event) {
    struct finding finding = diagnose(event);
    set_output(&finding.launch); /* also of a launch that is not kept */
    engine_find_launch(event->launch, true, &finding.launch);
    return finding;
}

/* What has been seen so far. */
static struct engine_result result(void) {
    struct engine_result r = {.launches = (int)launches_noted(), .blocks = surplus_seen()};
    const struct event *event = event_first();
    if (event) r.finding = finding_of(event);
    return r;
}

/* Likewise, if nothing has: that threads have returned past a barrier. */
static struct finding barrier_skipped(void) {
    const struct event *event;
    struct finding finding = {.kind = FINDING_NONE};
    for (int i = 0; finding.kind == FINDING_NONE && (event = divergence_skipped(i)); i++)
        finding = diagnose_skipped(event);
    if (finding.kind != FINDING_NONE) engine_find_launch(event->launch, true, &finding.launch);
    return finding;
}

/* Of two places: several instructions may be of one line. */
static bool same_place(const struct finding_party *a, const struct finding_party *b) {
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

static bool same_mistake(const struct finding *a, const struct finding *b) {
    return a->kind == b->kind &&
           ((same_place(&a->at, &b->at) && same_place(&a->other, &b->other)) ||
            (same_place(&a->at, &b->other) && same_place(&a->other, &b->at)));
}

int engine_findings(struct finding findings[], int room) {
    const struct event *events[EVENTS];
    const int all = event_list(events);
    int count = 0;
    for (int i = 0; i < all && count < room; i++) {
        int same = 0;
        findings[count] = finding_of(events[i]);
        while (!same_mistake(&findings[same], &findings[count])) same++;
        count += same == count;
    }
    if (all || !room) return count;
    const struct finding found = barrier_skipped();
    if (found.kind == FINDING_NONE) return 0;
    findings[0] = found;
    return 1;
}

static void stopped(void) {
    const struct engine_result r = result();
    if (run.stopped) run.stopped(&r);
}

static void set_limits(const struct engine_limits *limits) {
    if (limits->alone_threads) launch_run_alone(limits->alone_threads);
    if (limits->block_seconds > 0)
        launch_limit_time(&(struct time_limits){.block_seconds = limits->block_seconds,
                                                .seconds = limits->launch_seconds,
                                                .processor_time = true});
    event_hurries(limits->block_seconds_then);
}

static void keep(unsigned keeps) {
    if (keeps & KEEP_BLOCK)
        trace_watch(run.launch, run.block);
    else if (keeps & KEEP_TRACE)
        trace_watch(run.launch, NULL);
    if (keeps & KEEP_COUNTS)
        counts_watch(true);
    else if (keeps & KEEP_LOADS)
        counts_watch(false);
    if (keeps & KEEP_PHASES) phases_watch(run.block, run.launch);
}

void engine_begin(const struct engine_run *asked) {
    if (asked->all_findings) event_keep_all();
    run = *asked;
    vocabulary_use(run.words);
    machine_on_fault(run.machine_fault);
    for (int i = 0; i < ENGINE_ARRAYS; i++)
        if (run.arrays[i].elements) region_name(i, &run.arrays[i]);
    set_limits(&run.limits);
    keep(run.keeps);
    surplus_begin(run.writers);
    host_begin(run.host_process, stopped);
}

/* Of what is a mistake only where nothing else is found. */
static struct finding left(enum finding_kind kind) {
    struct event event = {.kind = FINDING_NONE};
    HEAR(left, kind, &event);
    if (event.kind == FINDING_NO_LAUNCH) event.place = place_of_code(run.wrapper);
    return event.kind != FINDING_NONE ? diagnose(&event) : (struct finding){.kind = FINDING_NONE};
}

/* Whether it has a word that neither a kernel nor a copy has written. */
static bool lacks_a_word(const struct region *r) {
    size_t word = 0;
    while (word < r->cells.words && cells_are_written(&r->cells, word)) word++;
    return word < r->cells.words;
}

void engine_add_store(struct finding *finding) {
    const struct region *output = region_output(), *r = region_first();
    if (finding->kind != FINDING_UNWRITTEN || !output || output->stored || !lacks_a_word(output))
        return;
    while (r && !(r->in_wrapper && r->stored)) r = r->next;
    if (!r) return;
    element_owner(r, finding->named, sizeof finding->named);
    finding->other = party_at(place_before(r->stored));
}

void engine_end(struct engine_result *r) {
    host_end();
    *r = result();
    if (r->finding.kind == FINDING_NONE) r->finding = barrier_skipped();
    if (r->finding.kind == FINDING_NONE && run.wrapper) r->finding = left(FINDING_NO_LAUNCH);
}

void engine_exited(struct engine_result *r) {
    host_end();
    *r = result();
    if (r->finding.kind == FINDING_NONE) r->finding = left(FINDING_FAILED_CALL);
    slot_set(r->finding.slot, SLOT_EXITED, 1);
}

void engine_forgotten_failure(struct finding *finding) { *finding = left(FINDING_FAILED_CALL); }

void engine_leak(struct finding *finding) { *finding = left(FINDING_LEAK); }
