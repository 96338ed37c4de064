/* Tests of engine/watch/event.c: which of a run's mistakes are kept, and in what order they count.
 */
#include "../../engine/watch/event.c"
#include "../../engine/watch/shadow/array.h"

#include "../check.h"
#include <stdlib.h>

static char code[64]; /* instructions; any address does */

/* What event.c needs of others. */
static uint64_t launch_now;
uint64_t launches_noted(void) { return launch_now; }
static const struct region *phases;
const struct region *region_with_phases(void) { return phases; }
struct region *region_nearest(uintptr_t address) {
    (void)address;
    return NULL;
}
__thread char emulator_dynamic_shared[1];
__thread struct running_index running_index;
void launch_limit_block(double seconds) { (void)seconds; }
void fault_raise(cudaError_t error, enum fault_code code) {
    (void)error, (void)code;
    abort();
}

void emulator_end_thread(void) { abort(); }
void watch_fast(struct watch *w, enum slow_reason no_more) { (void)w, (void)no_more; }

static void begin(bool all) {
    memset(&kept, 0, sizeof kept);
    keeps_all = all;
    launch_now = 1;
}

static const struct event *note(enum finding_kind kind, int at, int other) {
    const struct event event = {.kind = kind,
                                .code = code + at,
                                .has_other = other >= 0,
                                .other_code = other < 0 ? NULL : code + other};
    return event_note(&event);
}

static bool wanted(enum finding_kind kind, int at, int other) {
    return event_is_wanted(kind, code + at, other < 0 ? NULL : code + other);
}

TEST(the_first_grave_one_comes_first) {
    const struct event *events[EVENTS];
    begin(false);
    CHECK(!event_noted() && note(FINDING_SHARED_RACE, 1, 2) && event_enough());
    CHECK(!note(FINDING_INPUT_WRITTEN, 3, -1) && !wanted(FINDING_INPUT_WRITTEN, 3, -1));
    CHECK(wanted(FINDING_TAMPERING, 4, -1) && note(FINDING_TAMPERING, 4, -1));
    CHECK(!note(FINDING_HOST_FUNCTION, 5, -1));
    CHECK(event_list(events) == 2 && events[0] == event_first());
    CHECK(events[0]->kind == FINDING_TAMPERING && events[1]->kind == FINDING_SHARED_RACE);
}

TEST(all_are_kept_once_for_a_kind_and_a_pair_of_places) {
    const struct event *events[EVENTS];
    begin(true);
    CHECK(note(FINDING_SHARED_RACE, 1, 2));
    CHECK(!note(FINDING_SHARED_RACE, 1, 2) && !note(FINDING_SHARED_RACE, 2, 1));
    CHECK(!wanted(FINDING_SHARED_RACE, 2, 1) && wanted(FINDING_SHARED_RACE, 1, 3));
    CHECK(note(FINDING_SHARED_RACE, 1, 3) && note(FINDING_GLOBAL_RACE, 1, 2));
    CHECK(note(FINDING_OUT_OF_BOUNDS, 1, -1) && !note(FINDING_OUT_OF_BOUNDS, 1, -1));
    CHECK(!event_enough() && event_list(events) == 4);
    CHECK(events[0]->kind == FINDING_SHARED_RACE && events[0]->other_code == code + 2);
    CHECK(events[3]->kind == FINDING_OUT_OF_BOUNDS);
    /* A place may be a line. There is room for so many. */
    begin(true);
    for (int i = 0; i < EVENTS + 3; i++) {
        const struct event event = {.kind = FINDING_MISALIGNED, .file = "kernel.cu", .line = i + 1};
        CHECK(event_enough() == (i >= EVENTS));
        CHECK(!event_note(&event) == (i >= EVENTS) && !event_note(&event));
    }
    CHECK(event_list(events) == EVENTS && !wanted(FINDING_SHARED_RACE, 1, 2));
    CHECK(events[0]->line == 1 && events[EVENTS - 1]->line == EVENTS);
}

TEST(one_takes_the_place_of_another) {
    for (int all = 0; all < 2; all++) {
        begin(all);
        const struct event *race = note(FINDING_SHARED_RACE, 1, 2);
        launch_now = 3;
        const struct event barrier = {.kind = FINDING_DIVERGENT_BARRIER, .code = code + 5};
        event_replace(race, &barrier);
        const struct event *events[EVENTS];
        CHECK(event_list(events) == 1);
        CHECK(event_first()->kind == FINDING_DIVERGENT_BARRIER && event_first()->launch == 1);
    }
}

TEST(how_far_a_block_has_read_along_the_phases_is_known) {
    const struct engine_array array = {
        .element = ELEMENT_F32, .dimensions = 2, .extent = {3, 7}, .phase_axis = 1};
    const struct region region = {.array = &array};
    const struct launch launch = {.block_threads = 2};
    const struct access access = {.code = code};
    struct watch *w = calloc(1, sizeof *w);
    w->launch = &launch;
    phases = &region;
    CHECK(event_here(w, FINDING_SHARED_RACE, &access).column == 0);
    w->last_read[1] = 7 + 2 + 1; /* in the second row, plus 1 */
    CHECK(event_here(w, FINDING_SHARED_RACE, &access).column == 2 + 1);
    w->last_read[0] = 1; /* the first element of all */
    CHECK(event_here(w, FINDING_SHARED_RACE, &access).column == 2 + 1);
    w->last_read[1] = 0;
    CHECK(event_here(w, FINDING_SHARED_RACE, &access).column == 1);
    phases = NULL;
    free(w);
}
