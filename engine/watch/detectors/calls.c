/* Calls that failed, launches that were refused, and a wrapper that launches nothing; calls of
 * host functions by a kernel; and faults that the runtime sees, and no detector did. */
#include "../../cuda/program/program.h"
#include "../detector.h"
#include "../launches.h"
#include <string.h>

/* --- calls of the wrapper's ------------------------------------------------------------------- */

/* The first call that failed in the wrapper, or launch that was refused. Its error is pending when
 * the run ends, or the wrapper has asked for it: then it is no mistake where the result is right.
 */
static struct event failure; /* FINDING_NONE: there was none */

/* A call that failed, whose error the wrapper has asked for: it may have done without. */
static bool is_forgotten(void) { return failure.forgotten && failure.kind == FINDING_FAILED_CALL; }

static void keep_failure(const struct event *event) {
    if (failure.kind && !is_forgotten()) return;
    failure = *event;
    failure.place = host_place();
    failure.launch = launches_noted();
}

static void calls_launch_refused(const struct launch *launch) {
    keep_failure(&(struct event){.kind = FINDING_BAD_LAUNCH,
                                 .grid_size = launch->grid,
                                 .block_size = launch->block,
                                 .static_bytes = image_static_shared(launch->kernel),
                                 .dynamic_bytes = launch->shared_bytes});
}

/* What its caller will use, and free. */
static void calls_freed(const struct region *r) {
    if (!r->array || r->in_wrapper) return;
    event_note(&(struct event){.kind = FINDING_FREED_MEMORY,
                               .frees = true,
                               .address = r->begin,
                               .place = host_place(),
                               .launch = launches_noted()});
}

static void call_failed(cudaError_t error) {
    if (event_enough() || error_sticky() != cudaSuccess) return;
    keep_failure(&(struct event){.kind = FINDING_FAILED_CALL, .error = error});
}

static void error_asked(bool forgotten) {
    failure.checked = true;
    failure.forgotten |= forgotten;
}

/* Whether it comes of that: no value was copied or set, and what was read has none. */
static bool comes_of_failure(const struct event *found) {
    return found && found->kind == FINDING_UNINITIALIZED_GLOBAL &&
           (strncmp(failure.place.called, "cudaMemcpy", strlen("cudaMemcpy")) == 0 ||
            strncmp(failure.place.called, "cudaMemset", strlen("cudaMemset")) == 0);
}

static void run_ended(void) {
    if (failure.kind && (!is_forgotten() || comes_of_failure(event_first()))) event_note(&failure);
}

static void left_behind(enum finding_kind kind, struct event *event) {
    if (kind == FINDING_FAILED_CALL && is_forgotten()) *event = failure;
    if (kind == FINDING_NO_LAUNCH && !launches_noted()) event->kind = kind;
}

const struct detector detector_calls = {.launch_refused = calls_launch_refused,
                                        .freed = calls_freed,
                                        .call_failed = call_failed,
                                        .error_asked = error_asked,
                                        .run_ended = run_ended,
                                        .left = left_behind};

/* --- a kernel calls what only host code may: guard/ has found it, and ends the launch --------- */

/* "std::vector<int>::at" becomes "std::vector::at"; the < of an operator stays. */
static void drop_template_arguments(char *name) {
    char *to = name;
    int depth = 0;
    for (const char *from = name; *from; ++from) {
        if (!depth && strncmp(from, "operator", 8) == 0) {
            memmove(to, from, strlen(from) + 1);
            return;
        }
        depth += *from == '<';
        if (!depth) *to++ = *from;
        depth -= *from == '>';
    }
    *to = '\0';
}

static void host_call(struct watch *w, const char *function, const void *code) {
    const struct access access = {.code = code};
    struct event event = event_here(w, FINDING_HOST_FUNCTION, &access);
    kernel_name(function, event.called, sizeof event.called);
    drop_template_arguments(event.called);
    event_note(&event);
}

const struct detector detector_host_call = {.host_call = host_call};

/* --- a run that does not end, a deadlock, a crash --------------------------------------------- */

extern struct dim3 blockDim, gridDim;

static enum finding_kind kind_of_fault(const struct fault *fault) {
    if (!fault->kernel && fault->error != cudaErrorLaunchTimeout)
        return fault->address ? FINDING_DEVICE_POINTER_ON_HOST : FINDING_HOST_FAULT;
    switch (fault->facts.code) {
    case FAULT_DEADLOCK: return FINDING_DEADLOCK;
    case FAULT_ENDLESS: return FINDING_ENDLESS;
    case FAULT_TIME_LIMIT: return FINDING_TIME_LIMIT;
    default: break;
    }
    switch (fault->error) {
    case cudaErrorIllegalAddress: return FINDING_OUT_OF_BOUNDS;
    case cudaErrorMisalignedAddress: return FINDING_MISALIGNED;
    default: return FINDING_KERNEL_FAULT;
    }
}

/* What the block has come to in which it happened. */
static void add_block(struct event *event, const struct watch *w) {
    event->last_barrier = w->last_barrier;
    event->barriers = (w->epochs.interval >> INTERVAL_BIT) - FIRST_INTERVAL;
    if (event->kind != FINDING_DEADLOCK || !w->arrived[0].code) return;
    event->has_other = true;
    event->other_code = w->arrived[0].code;
    event->other_thread = threads_first(&w->arrived[0].threads);
    event->other_block = event->block;
    event->waiting = w->arrived[0].threads;
    event->returned = w->epochs.returned;
}

static void note_fault(const struct fault *fault) {
    struct event event = {
        .kind = kind_of_fault(fault),
        .in_kernel = fault->kernel,
        .address = (uintptr_t)fault->address,
        .block_size = {blockDim.x, blockDim.y, blockDim.z},
        .grid_size = {gridDim.x, gridDim.y, gridDim.z},
        .place = fault->place,
        .fault = fault->facts,
    };
    event.thread = fault->thread.x + blockDim.x * (fault->thread.y + blockDim.y * fault->thread.z);
    event.block = fault->block.x +
                  (uint64_t)gridDim.x * (fault->block.y + (uint64_t)gridDim.y * fault->block.z);
    const struct watch *w = event.in_kernel ? watch_of_block(event.block) : NULL;
    if (w) add_block(&event, w);
    if (event_has_ended() && (event.kind == FINDING_DEADLOCK || event.kind == FINDING_ENDLESS ||
                              event.kind == FINDING_TIME_LIMIT))
        return; /* others may wait for the thread that was ended */
    if (event.kind == FINDING_DEVICE_POINTER_ON_HOST || event.kind == FINDING_HOST_FAULT)
        host_stop(&event);
    else
        event_note(&event);
}

const struct detector detector_limits = {.fault = note_fault};
