/* The host's side of a run: see calls.h. */
#include "calls.h"
#include "../../cuda/program/extents.h"
#include "../../report/launch.h"
#include "../event.h"
#include "../launches.h"
#include "../regions.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern struct dim3 blockDim, gridDim;

static bool in_wrapper;
static int process;
static void (*stopped)(void);

/* The first call that failed in the wrapper, or launch that was refused. */
static struct {
    bool is;
    struct event event;
} failure;

void host_end(void) { in_wrapper = false; }

int host_process(void) { return process ? process : getpid(); }

void host_begin(int host_process, void (*stop)(void)) {
    process = host_process;
    stopped = stop;
    in_wrapper = true;
    launches_begin();
}

/* The program cannot go on after this one. */
static void stop_with(const struct event *event) {
    event_note(event);
    if (stopped) stopped();
}

static struct place calling_place(void) {
    void *frames[16];
    int count = fault_backtrace(frames, 16);
    return place_find(frames, count);
}

/* --- the host's own loads and stores ---------------------------------------------------------- */

/* FINDING_NONE: the host may do that. */
static enum finding_kind mistake_of(const struct access *access) {
    const struct region *r = region_find(access->address);
    if (r && r->on_device) return r->freed ? FINDING_FREED_MEMORY : FINDING_DEVICE_POINTER_ON_HOST;
    if (r || !program_holds(access->address)) return FINDING_NONE;
    if (access->write)
        return program_is_foreign(access->address) ? FINDING_TAMPERING : FINDING_NONE;
    return program_kernel_wrote(access->address) ? FINDING_DEVICE_VARIABLE_ON_HOST : FINDING_NONE;
}

void host_access(const struct access *access) {
    const enum finding_kind kind = in_wrapper ? mistake_of(access) : FINDING_NONE;
    if (kind == FINDING_NONE) return;
    stop_with(&(struct event){
        .kind = kind,
        .write = access->write,
        .code = access->code,
        .address = access->address,
        .size = access->size,
    });
}

/* --- memory ----------------------------------------------------------------------------------- */

static void allocated(char *begin, size_t bytes, bool on_device) {
    region_add(begin, bytes, on_device, in_wrapper);
}

/* What a copy brings counts as written, before any launch; an input must stay as it is. */
static void copied(char *to, const char *from, size_t bytes) {
    WATCH_CONSUMERS(copied, to, from, bytes);
    struct region *r = region_find((uintptr_t)to);
    if (r) region_written(r, to, bytes);
    if (!r || !region_is_input(r) || !in_wrapper) return;
    struct event event = {.kind = FINDING_INPUT_WRITTEN,
                          .address = (uintptr_t)to,
                          .write = true,
                          .size = WORD,
                          .place = calling_place()};
    event_note(&event);
}

/* --- launches and calls ----------------------------------------------------------------------- */

/* A call that failed, whose error the wrapper has asked for: it may have done without. */
static bool is_forgotten(void) {
    return failure.is && failure.event.forgotten && failure.event.kind == FINDING_FAILED_CALL;
}

static void keep_failure(struct event *event) {
    if (!in_wrapper || (failure.is && !is_forgotten())) return;
    event->place = calling_place();
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

static void launch_refused(const struct launch *launch, cudaError_t error) {
    struct event event = {.kind = FINDING_BAD_LAUNCH};
    (void)error;
    launches_note(launch);
    event.hint = say_why_refused(event.text, launch);
    keep_failure(&event);
}

static void failed(cudaError_t error) {
    struct event event = {.kind = FINDING_FAILED_CALL};
    if (event_enough() || error_sticky() != cudaSuccess) return;
    snprintf(event.text, sizeof event.text, "%s (%s)", cudaGetErrorString(error),
             cudaGetErrorName(error));
    keep_failure(&event);
}

static void looked(cudaError_t error, bool forgotten) {
    if (!in_wrapper || error == cudaSuccess) return;
    failure.event.checked = true;
    failure.event.forgotten |= forgotten;
}

void host_note_failure(void) {
    if (failure.is && !is_forgotten()) event_note(&failure.event);
}

const struct event *host_forgotten_failure(void) { return is_forgotten() ? &failure.event : NULL; }

/* --- faults that the runtime sees, and the checks did not ------------------------------------- */

static enum finding_kind kind_of_fault(const struct fault *fault) {
    if (!fault->kernel && fault->error != cudaErrorLaunchTimeout)
        return fault->address ? FINDING_DEVICE_POINTER_ON_HOST : FINDING_HOST_FAULT;
    switch (fault->kind) {
    case FAULT_DEADLOCK: return FINDING_DEADLOCK;
    case FAULT_ENDLESS: return FINDING_ENDLESS;
    case FAULT_TIME_LIMIT: return FINDING_TIME_LIMIT;
    case FAULT_OTHER: break;
    }
    switch (fault->error) {
    case cudaErrorIllegalAddress: return FINDING_OUT_OF_BOUNDS;
    case cudaErrorMisalignedAddress: return FINDING_MISALIGNED;
    default: return FINDING_KERNEL_FAULT;
    }
}

static void fault(const struct fault *fault) {
    if (!fault->what) return; /* the checker raised it, and has noted why */
    struct event event = {
        .kind = kind_of_fault(fault),
        .in_kernel = fault->kernel,
        .address = (uintptr_t)fault->address,
        .block_size = {blockDim.x, blockDim.y, blockDim.z},
        .grid_size = {gridDim.x, gridDim.y, gridDim.z},
        .place = fault->place,
    };
    event.thread = fault->thread.x + blockDim.x * (fault->thread.y + blockDim.y * fault->thread.z);
    event.block = fault->block.x +
                  (uint64_t)gridDim.x * (fault->block.y + (uint64_t)gridDim.y * fault->block.z);
    snprintf(event.text, sizeof event.text, "%.*s", (int)strcspn(fault->what, ";\n"), fault->what);
    const struct watch *w = event.in_kernel ? watch_of_block(event.block) : NULL;
    if (w) {
        event.last_barrier = w->last_barrier;
        event.barriers = (w->epochs.interval >> INTERVAL_BIT) - FIRST_INTERVAL;
    }
    if (w && event.kind == FINDING_DEADLOCK && w->arrived[0].count) {
        event.has_other = true;
        event.other_code = w->arrived[0].code;
        event.other_thread = threads_first(&w->arrived[0].threads);
        event.other_block = event.block;
        event.waiting = w->arrived[0].threads;
        event.returned = w->epochs.returned;
    }
    if (event_has_ended() && (event.kind == FINDING_DEADLOCK || event.kind == FINDING_ENDLESS ||
                              event.kind == FINDING_TIME_LIMIT))
        return; /* others may wait for the thread that was ended */
    if (event.kind == FINDING_DEVICE_POINTER_ON_HOST || event.kind == FINDING_HOST_FAULT)
        stop_with(&event);
    else
        event_note(&event);
}

void host_observe(struct observer *o) {
    o->allocated = allocated;
    o->freed = region_free;
    o->copied = copied;
    o->launch_refused = launch_refused;
    o->failed = failed;
    o->looked = looked;
    o->fault = fault;
}
