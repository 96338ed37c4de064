/* Calls of the wrapper's that failed, launches that were refused, and a wrapper that launches
 * nothing. */
#include "../../report/launch.h"
#include "../detector.h"
#include "../host.h"
#include "../launches.h"
#include <stdio.h>

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

/* What is wrong, and what to think about. */
static const char *say_why_refused(char text[MESSAGE_SIZE], const struct launch *launch) {
    static const struct launch_limits limits = {
        .grid = {MAX_GRID_X, MAX_GRID_Y, MAX_GRID_Z},
        .block = {MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z},
        .threads = MAX_BLOCK_THREADS,
        .shared = SHARED_PER_BLOCK,
    };
    const struct launch_shape shape = {
        .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
        .block = {launch->block.x, launch->block.y, launch->block.z},
        .static_shared = image_static_shared(launch->kernel),
        .dynamic_shared = launch->shared_bytes,
    };
    const char *hint = launch_refusal(&shape, &limits, text);
    if (hint) return hint;
    snprintf(text, MESSAGE_SIZE,
             "a block asks for %zu bytes of dynamic shared memory, more than cudaFuncSetAttribute "
             "has allowed",
             launch->shared_bytes);
    return "the attribute has to be as large as the third number in <<< >>>";
}

static void launch_refused(const struct launch *launch) {
    struct event event = {.kind = FINDING_BAD_LAUNCH};
    event.hint = say_why_refused(event.text, launch);
    keep_failure(&event);
}

static void call_failed(cudaError_t error) {
    struct event event = {.kind = FINDING_FAILED_CALL};
    if (event_enough() || error_sticky() != cudaSuccess) return;
    snprintf(event.text, sizeof event.text, "%s (%s)", cudaGetErrorString(error),
             cudaGetErrorName(error));
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
