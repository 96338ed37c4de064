/* Faults that the runtime sees, and no detector did: a run that does not end, a deadlock, a crash.
 */
#include "../detector.h"
#include "../host.h"

extern struct dim3 blockDim, gridDim;

static enum finding_kind kind_of(const struct fault *fault) {
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
    if (event->kind != FINDING_DEADLOCK || !w->arrived[0].count) return;
    event->has_other = true;
    event->other_code = w->arrived[0].code;
    event->other_thread = threads_first(&w->arrived[0].threads);
    event->other_block = event->block;
    event->waiting = w->arrived[0].threads;
    event->returned = w->epochs.returned;
}

static void note(const struct fault *fault) {
    struct event event = {
        .kind = kind_of(fault),
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

const struct detector detector_limits = {.name = "limits", .fault = note};
