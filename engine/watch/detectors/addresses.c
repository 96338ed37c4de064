/* Accesses to addresses that are not to be accessed, or not so: one section each. */
#define _GNU_SOURCE
#include "../../cuda/program/program.h"
#include "../detector.h"
#include "../host.h"
#include "../shadow/regions.h"
#include "../stack.h"
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- outside of all arrays, allocations and variables ----------------------------------------- */

/* Where the host's process cannot be looked at (Landlock): it forked from this one, so that its
 * memory is what is mapped here, and a heap that has grown from here. */
static bool is_probably_mapped(uintptr_t address) {
    const uintptr_t most_heap = (uintptr_t)64 << 30;
    unsigned char in_memory;
    return address - (uintptr_t)sbrk(0) < most_heap ||
           mincore((void *)(address & -(uintptr_t)sysconf(_SC_PAGESIZE)), 1, &in_memory) == 0;
}

/* Whether the address is mapped into the host's process at all. */
static bool is_mapped(uintptr_t address) {
    unsigned long begin, end;
    char rights[8], path[32];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", host_process());
    FILE *maps = fopen(path, "re");
    if (!maps) return is_probably_mapped(address);
    while (!found && fscanf(maps, "%lx-%lx %7s%*[^\n]", &begin, &end, rights) == 3)
        found = address >= begin && address < end && rights[0] == 'r';
    fclose(maps);
    return found;
}

/* Whether the launch can go on after an access outside of an array: it met no other's memory. */
static bool is_around_an_array(uintptr_t address) {
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        if (r && region_reaches(r, address)) return true;
    }
    return false;
}

/* What a store to shared memory would change may be the runtime's own: the launch ends. */
static void outside(struct watch *w, const struct access *access) {
    const uintptr_t address = access->address;
    if (watch_is_shared(w, address))
        event_stop(w, FINDING_SHARED_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
    if (region_find(address)) /* only its end is outside */
        event_stop(w, FINDING_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
    if (is_around_an_array(address)) {
        const struct event event = event_here(w, FINDING_OUT_OF_BOUNDS, access);
        event_note(&event);
        return;
    }
    const bool is_hosts = !memory_is_device((const void *)address) && is_mapped(address);
    event_stop(w, is_hosts ? FINDING_HOST_POINTER_ON_DEVICE : FINDING_OUT_OF_BOUNDS, access,
               cudaErrorIllegalAddress);
}

const struct detector detector_bounds = {.name = "bounds", .outside = outside};

/* --- device memory that is used after cudaFree(), or never freed ------------------------------ */

static void freed_by_kernel(struct watch *w, const struct access *access) {
    event_stop(w, FINDING_FREED_MEMORY, access, cudaErrorIllegalAddress);
}

static void freed_by_host(const struct access *access) {
    const struct region *r = region_find(access->address);
    if (r && r->on_device && r->freed) host_stop_at(FINDING_FREED_MEMORY, access);
}

const struct detector detector_freed = {
    .name = "freed", .used_freed = freed_by_kernel, .host_access = freed_by_host};

/* Device memory that the wrapper has allocated and not freed. */
static void leak_left(enum finding_kind kind, struct event *event) {
    for (const struct region *r = kind == FINDING_LEAK ? region_first() : NULL; r; r = r->next) {
        if (!r->in_wrapper || r->freed || !r->bytes) continue;
        event->kind = FINDING_LEAK;
        event->bytes += r->bytes;
        event->count++;
        event->place = place_find(r->frames, r->frame_count); /* the last is the first allocated */
    }
}

const struct detector detector_leak = {.name = "leak", .left = leak_left};

/* A vector at an address that is not a multiple of its size: a GPU stops, and so does the
 * launch. */
static void misaligned(struct watch *w, const struct access *access) {
    event_stop(w, FINDING_MISALIGNED, access, cudaErrorMisalignedAddress);
}

const struct detector detector_misaligned = {.name = "misaligned", .misaligned = misaligned};

/* --- an input is written: by a kernel, or by a copy of the wrapper's -------------------------- */

static void input_by_kernel(struct watch *w, const struct access *access) {
    const struct event event = event_here(w, FINDING_INPUT_WRITTEN, access);
    event_note(&event);
}

static void input_by_copy(const char *to, const char *from, size_t bytes) {
    const struct region *r = region_find((uintptr_t)to);
    (void)from, (void)bytes;
    if (!r || !region_is_input(r)) return;
    const struct event event = {.kind = FINDING_INPUT_WRITTEN,
                                .address = (uintptr_t)to,
                                .write = true,
                                .size = WORD,
                                .place = host_place()};
    event_note(&event);
}

const struct detector detector_input = {
    .name = "input", .input_written = input_by_kernel, .copied = input_by_copy};

/* --- the host's own loads and stores of what is the device's ---------------------------------- */

static void device_memory_by_host(const struct access *access) {
    const struct region *r = region_find(access->address);
    if (r && r->on_device && !r->freed) host_stop_at(FINDING_DEVICE_POINTER_ON_HOST, access);
    if (!r && !access->write && program_holds(access->address) &&
        program_kernel_wrote(access->address))
        host_stop_at(FINDING_DEVICE_VARIABLE_ON_HOST, access);
}

const struct detector detector_host_memory = {.name = "host_memory",
                                              .host_access = device_memory_by_host};

/* --- stores to variables of the program that runs the kernel: by a kernel, or by the wrapper -- */

static void tampering_by_kernel(struct watch *w, const struct access *access) {
    event_stop(w, FINDING_TAMPERING, access, cudaErrorIllegalAddress);
}

static void tampering_by_host(const struct access *access) {
    if (access->write && !region_find(access->address) && program_holds(access->address) &&
        program_is_foreign(access->address))
        host_stop_at(FINDING_TAMPERING, access);
}

const struct detector detector_tampering = {
    .name = "tampering", .foreign_written = tampering_by_kernel, .host_access = tampering_by_host};

/* --- stacks: another thread's local variables; and stores to what a function returns with ----- */

/* That of the checker's function that the kernel has called. */
static const struct frame *callee_of(const struct access *access) {
    enum { FRAMES = 6 };
    const struct frame *const here = __builtin_frame_address(0), *each = here;
    for (int i = 0; i < FRAMES && each->returns_to != access->code; ++i) each = each->caller;
    return each->returns_to == access->code ? each : here;
}

/* On a GPU, a thread that has a pointer to another one's local variable finds something else there.
 * No store there, or to what is no variable, is made: a function would return to anywhere. */
static void on_stack(struct watch *w, const struct access *access) {
    const struct frame *callee = callee_of(access);
    const bool here = access->address < stack_end(w, callee) &&
                      access->address >= stack_end(w, callee) - STACK_BYTES;
    const enum finding_kind kind = here ? FINDING_LOCAL_OUT_OF_BOUNDS : FINDING_FOREIGN_LOCAL;
    const bool right =
        here && (!access->write || stack_may_store(w, access->address, access->size, callee));
    if (right) return;
    if (access->write) event_stop(w, kind, access, cudaErrorIllegalAddress);
    if (!event_is_wanted(kind, access->code, NULL)) return;
    const struct event event = event_here(w, kind, access);
    event_note(&event);
}

const struct detector detector_stack = {.name = "stack", .on_stack = on_stack};
