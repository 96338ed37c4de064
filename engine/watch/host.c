/* The host's side of a run: see detector.h. */
#include "detector.h"
#include "launches.h"
#include "shadow/shadow.h"
#include <unistd.h>

static bool in_wrapper;
static int process;
static void (*when_stopped)(void);

void host_end(void) {
    in_wrapper = false;
    HEAR(run_ended);
}

int host_process(void) { return process ? process : getpid(); }

void host_begin(int host_process, void (*stop)(void)) {
    process = host_process;
    when_stopped = stop;
    in_wrapper = true;
    launches_begin();
}

struct place host_place(void) {
    void *frames[16];
    int count = fault_backtrace(frames, 16);
    return place_find(frames, count);
}

void host_stop(const struct event *event) {
    event_note(event);
    if (when_stopped) when_stopped();
}

void host_access(const struct access *access) {
    if (in_wrapper) HEAR(host_access, access);
}

static void allocated(char *begin, size_t bytes, bool on_device) {
    region_add(begin, bytes, on_device, in_wrapper);
}

static void freed(char *begin) {
    const struct region *r = region_find((uintptr_t)begin);
    if (in_wrapper && r) HEAR(freed, r);
    region_free(begin);
}

/* What a copy brings counts as written, before any launch. */
static void copied(char *to, const char *from, size_t bytes, bool to_symbol) {
    struct region *r = region_find((uintptr_t)to);
    if (r) region_written(r, to, bytes);
    program_copied((uintptr_t)to, bytes, to_symbol);
    if (in_wrapper) HEAR(copied, to, from, bytes);
}

static void launch_refused(const struct launch *launch, cudaError_t error) {
    (void)error;
    launches_note(launch);
    if (in_wrapper) HEAR(launch_refused, launch);
}

static void failed(cudaError_t error) {
    if (in_wrapper) HEAR(call_failed, error);
}

static void looked(cudaError_t error, bool forgotten) {
    if (in_wrapper && error != cudaSuccess) HEAR(error_asked, forgotten);
}

static void faulted(const struct fault *fault) {
    if (fault->facts.code != FAULT_NONE)
        HEAR(fault, fault); /* else a detector has raised it, and noted why */
}

void host_observe(struct observer *o) {
    o->allocated = allocated;
    o->freed = freed;
    o->copied = copied;
    o->launch_refused = launch_refused;
    o->failed = failed;
    o->looked = looked;
    o->fault = faulted;
}
