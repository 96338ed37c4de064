/* Calls of the wrapper's that failed, launches that were refused, and a wrapper that launches
 * nothing. */
#include "../detector.h"
#include "../host.h"
#include "../launches.h"

/* The first call that failed in the wrapper, or launch that was refused. Its error is pending when
 * the run ends, or the wrapper has asked for it: then it is no mistake where the result is right.
 */
static struct {
    bool is;
    struct event event;
} failure;

/* A call that failed, whose error the wrapper has asked for: it may have done without. */
static bool is_forgotten(void) {
    return failure.is && failure.event.forgotten && failure.event.kind == FINDING_FAILED_CALL;
}

static void keep_failure(struct event *event) {
    if (failure.is && !is_forgotten()) return;
    event->place = host_place();
    event->launch = launches_noted();
    failure.event = *event;
    failure.is = true;
}

static void launch_refused(const struct launch *launch) {
    struct event event = {.kind = FINDING_BAD_LAUNCH,
                          .grid_size = launch->grid,
                          .block_size = launch->block,
                          .static_bytes = image_static_shared(launch->kernel),
                          .dynamic_bytes = launch->shared_bytes};
    keep_failure(&event);
}

static void call_failed(cudaError_t error) {
    struct event event = {.kind = FINDING_FAILED_CALL, .error = error};
    if (event_enough() || error_sticky() != cudaSuccess) return;
    keep_failure(&event);
}

static void error_asked(bool forgotten) {
    failure.event.checked = true;
    failure.event.forgotten |= forgotten;
}

static void run_ended(void) {
    if (failure.is && !is_forgotten()) event_note(&failure.event);
}

static void left(enum finding_kind kind, struct event *event) {
    if (kind == FINDING_FAILED_CALL && is_forgotten()) *event = failure.event;
    if (kind == FINDING_NO_LAUNCH && !launches_noted()) event->kind = kind;
}

const struct detector detector_calls = {.name = "calls",
                                        .launch_refused = launch_refused,
                                        .call_failed = call_failed,
                                        .error_asked = error_asked,
                                        .run_ended = run_ended,
                                        .left = left};
