/* The host's side: what the wrapper does with the CUDA runtime, and what it must not do. */
#include "../support.h"
#include "watch.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern struct dim3 blockDim, gridDim;

static bool in_wrapper;
static int launches;
static void (*fatal)(const struct finding *finding);
static void (*machine)(const char *what);

/* The first call that failed in the wrapper, or launch that was refused. */
static struct {
    bool is, looked; /* looked: the wrapper asked for the last error afterwards */
    struct event event;
} failure;

bool host_in_wrapper(void) { return in_wrapper; }
int checker_launches(void) { return launches; }
void checker_run_alone(uint64_t threads) { launch_run_alone(threads); }

void checker_limit_time(double seconds) {
    launch_limit_time(&(struct time_limits){.block_seconds = seconds,
                                            .seconds = CHECKER_LAUNCH_BLOCKS * seconds,
                                            .processor_time = true});
}

void checker_on_fatal(void (*end)(const struct finding *)) { fatal = end; }

void checker_on_machine_fault(void (*end)(const char *)) { machine = end; }

void host_out_of_memory(const char *what) {
    if (machine) machine(what);
    abort();
}

void checker_wrapper_begins(void) {
    in_wrapper = true;
    launches = 0;
}

void checker_wrapper_ended(void) { in_wrapper = false; }

static void end_with_event(const struct event *event) {
    event_note(event);
    struct finding finding = event_finding();
    if (fatal) fatal(&finding);
}

static struct place calling_place(void) {
    void *frames[16];
    int count = fault_backtrace(frames, 16);
    return place_find(frames, count);
}

/* --- the host's own loads and stores ---------------------------------------------------------- */

/* FINDING_NONE: the host may do that. */
static enum finding_kind mistake_of(const struct access *access) {
    const struct region *r = global_find(access->address);
    if (r && r->on_device) return r->freed ? FINDING_FREED_MEMORY : FINDING_DEVICE_POINTER_ON_HOST;
    if (r || !program_holds(access->address)) return FINDING_NONE;
    if (access->write)
        return program_is_foreign(access->address) ? FINDING_TAMPERING : FINDING_NONE;
    return program_kernel_wrote(access->address) ? FINDING_DEVICE_VARIABLE_ON_HOST : FINDING_NONE;
}

void host_access(const struct access *access) {
    const enum finding_kind kind = in_wrapper ? mistake_of(access) : FINDING_NONE;
    if (kind == FINDING_NONE) return;
    end_with_event(&(struct event){
        .kind = kind,
        .write = access->write,
        .code = access->code,
        .address = access->address,
        .size = access->size,
    });
}

void host_changes_input(uintptr_t address) {
    struct event event = {
        .kind = FINDING_INPUT_WRITTEN, .address = address, .write = true, .size = WORD};
    event.place = calling_place();
    event_note(&event);
}

/* --- launches and calls ----------------------------------------------------------------------- */

static void keep_failure(struct event *event) {
    if (!in_wrapper || failure.is) return;
    event->place = calling_place();
    if (event->kind == FINDING_FAILED_CALL && event->place.called[0])
        snprintf(event->what, sizeof event->what, "%s", event->place.called);
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
    launches++;
    event.hint = say_why_refused(event.text, launch);
    keep_failure(&event);
}

static void launch_ended(const struct launch *launch) {
    launches++;
    counts_launch_ended(launch);
}

static void failed(cudaError_t error) {
    struct event event = {.kind = FINDING_FAILED_CALL};
    if (event_noted() || error_sticky() != cudaSuccess) return;
    snprintf(event.text, sizeof event.text, "%s (%s)", cudaGetErrorString(error),
             cudaGetErrorName(error));
    keep_failure(&event);
}

static void looked(cudaError_t error) {
    if (in_wrapper && failure.is && error != cudaSuccess) failure.looked = true;
}

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
    if (!fault->what) return; /* an event of ours, noted before */
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
    const struct watch *w = event.kind == FINDING_DEADLOCK ? block_watch(event.block) : NULL;
    if (w && w->arrived[0].count) {
        event.other_code = w->arrived[0].code;
        event.other_thread = w->arrived[0].first_thread;
        event.other_block = event.block;
        event.waiting = w->arrived[0].count;
    }
    if (event.kind == FINDING_DEVICE_POINTER_ON_HOST || event.kind == FINDING_HOST_FAULT)
        end_with_event(&event);
    else
        event_note(&event);
}

void host_install(struct observer *o) {
    o->launch_refused = launch_refused;
    o->launch_ended = launch_ended;
    o->out_of_memory = host_out_of_memory;
    o->failed = failed;
    o->looked = looked;
    o->fault = fault;
}

/* --- when all is over ------------------------------------------------------------------------- */

struct finding checker_finding(void) {
    if (!event_noted() && failure.is) {
        const char *told = failure.looked
                               ? "the wrapper asked cudaGetLastError() and went on"
                               : "nobody asked: cudaGetLastError() after the launch tells";
        size_t used = strlen(failure.event.text);
        if (failure.event.kind == FINDING_BAD_LAUNCH)
            snprintf(failure.event.text + used, sizeof failure.event.text - used, "\n%s", told);
        event_note(&failure.event);
    }
    return event_finding();
}

struct finding checker_leak(void) {
    struct event event = {.kind = FINDING_LEAK};
    size_t bytes = 0;
    int count = 0;
    for (const struct region *r = global_regions(); r; r = r->next) {
        if (!r->in_wrapper || r->freed || !r->bytes) continue;
        bytes += r->bytes;
        count++;
        event.place = place_find(r->frames, r->frame_count); /* the last is the first allocated */
    }
    if (!count) return (struct finding){.kind = FINDING_NONE};
    snprintf(event.text, sizeof event.text, "%d allocation%s of basicSgemm, %zu bytes in all",
             count, count == 1 ? "" : "s", bytes);
    event_note(&event);
    return event_finding();
}

void checker_place_of(const void *function, struct finding_party *party) {
    void *address = (void *)(uintptr_t)function;
    struct place place = place_find(&address, 1);
    *party = (struct finding_party){.known = true};
    snprintf(party->file, sizeof party->file, "%.*s", (int)sizeof party->file - 1, place.file);
    party->line = place.line;
}
