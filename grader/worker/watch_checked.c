/* The checked build: everything that ../../checker/ finds, and what it counts. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "../../checker/checker.h"
#include "../../checker/counts.h"
#include "watch_wrapper.h"

const bool worker_is_checked = true;

static bool counting;

/* Without the loads of blocks that nothing comes of: C may need fewer blocks than there are. */
static void keep_counts(void) {
    const struct counted_launch *launches;
    struct worker_report *r = worker_report();
    int count = checker_counted(&launches);
    for (int i = 0; i < count; i++) {
        if (launches[i].blocks_ended < launches[i].blocks) return;
        for (int place = COUNTED_A; place <= COUNTED_OTHER; place++) {
            r->loads += launches[i].of[place][COUNTED_LOADS].elements;
            r->loads += launches[i].of[place][COUNTED_ATOMICS].elements;
        }
        r->loads -= launches[i].idle_loads;
        r->loads_once_per_block += launches[i].needed - launches[i].idle_needed;
    }
    r->counted = count > 0;
}

static _Noreturn void end_with(const struct finding *finding) {
    worker_report()->finding = *finding;
    worker_report()->launches = checker_launches();
    worker_tell(WORKER_STOPPED);
    _exit(EXIT_WRONG);
}

static void fatal(const struct finding *finding) { end_with(finding); }

void watch_begins(const struct watched_matrix matrices[MATRIX_COUNT],
                  const struct watch_limits *limits, bool count,
                  void (*machine_fault)(const char *)) {
    checker_on_fatal(fatal);
    checker_on_machine_fault(machine_fault);
    for (int i = 0; i < MATRIX_COUNT; i++)
        checker_name_matrix(matrices[i].elements, matrices[i].name, matrices[i].rows,
                            matrices[i].cols, i != MATRIX_C ? CHECKER_INPUT : CHECKER_OUTPUT);
    counting = count;
    if (count) checker_count();
    watch_wrapper_begins(&matrices[MATRIX_C], limits);
    checker_wrapper_begins();
}

static void note_no_launch(struct finding *finding, const void *wrapper) {
    finding->kind = FINDING_NO_LAUNCH;
    checker_place_of(wrapper, &finding->at);
    snprintf(finding->what, sizeof finding->what, NO_LAUNCH_WHAT);
    snprintf(finding->hint, sizeof finding->hint, NO_LAUNCH_HINT);
}

/* A finding that lets the run go on (a race, say) leaves a C, which the judge wants to see. */
void watch_ended(const void *wrapper) {
    struct worker_report *r = worker_report();
    checker_wrapper_ended();
    watch_wrapper_ended();
    r->launches = checker_launches();
    r->finding = checker_finding();
    if (r->finding.kind == FINDING_NONE && !r->launches) note_no_launch(&r->finding, wrapper);
    if (r->finding.kind == FINDING_NONE) r->finding = checker_leak();
    if (counting) keep_counts();
}

enum worker_state watch_state_at_limit(void) {
    switch (worker_report()->finding.kind) {
    case FINDING_DEADLOCK: return WORKER_DEADLOCK;
    case FINDING_ENDLESS: return WORKER_ENDLESS;
    default: return WORKER_TIME_LIMIT;
    }
}
