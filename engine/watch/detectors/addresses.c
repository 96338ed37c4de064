/* Accesses to addresses that are not to be accessed, or not so: one section each. */
#define _GNU_SOURCE
#include "../../cuda/program/program.h"
#include "../../report/text/source.h"
#include "../detector.h"
#include "../shadow/shadow.h"
#include "../stack.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- outside of all arrays, allocations and variables ----------------------------------------- */

/* Whether the address is mapped into the host's process at all. Where that cannot be looked at
 * (Landlock), it forked from this one, so that its memory is what is mapped here, and a heap that
 * has grown from here. */
static bool is_mapped(uintptr_t address) {
    const uintptr_t most_heap = (uintptr_t)64 << 30;
    unsigned char in_memory;
    unsigned long begin, end;
    char rights[8], path[32];
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", host_process());
    FILE *maps = fopen(path, "re");
    if (!maps)
        return address - (uintptr_t)sbrk(0) < most_heap ||
               mincore((void *)(address & -(uintptr_t)sysconf(_SC_PAGESIZE)), 1, &in_memory) == 0;
    while (!found && fscanf(maps, "%lx-%lx %7s%*[^\n]", &begin, &end, rights) == 3)
        found = address >= begin && address < end && rights[0] == 'r';
    fclose(maps);
    return found;
}

/* What a store to shared memory would change may be the runtime's own: the launch ends. It can go
 * on after an access around an array of the run, which met no other's memory. */
static void outside(struct watch *w, const struct access *access) {
    const uintptr_t address = access->address;
    if (watch_is_shared(w, address))
        event_stop(w, FINDING_SHARED_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
    if (region_find(address)) /* only its end is outside */
        event_stop(w, FINDING_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        if (!r || !region_reaches(r, address)) continue;
        event_note_here(w, FINDING_OUT_OF_BOUNDS, access);
        return;
    }
    const uintptr_t variable = symbol_in_host(address);
    struct access at = *access;
    if (variable) at.address = variable; /* where host code has it, so that it is named */
    const bool is_hosts =
        variable || (!memory_is_device((const void *)address) && is_mapped(address));
    event_stop(w, is_hosts ? FINDING_HOST_POINTER_ON_DEVICE : FINDING_OUT_OF_BOUNDS, &at,
               cudaErrorIllegalAddress);
}

const struct detector detector_bounds = {.outside = outside};

/* --- accesses that are not allowed there ------------------------------------------------------ */

/* A kernel reads what the host's code has stored: that store is wrong. */
static void note_host_store(struct watch *w, const struct access *access, const void *store) {
    if (!event_is_wanted(FINDING_DEVICE_VARIABLE_ON_HOST, store, access->code)) return;
    struct event event = event_here(w, FINDING_DEVICE_VARIABLE_ON_HOST, access);
    event.in_kernel = false;
    event.write = event.has_other = true;
    event.code = store;
    event.other_code = access->code;
    event_note(&event);
}

/* A GPU stops, and so does the launch; but an input it would write. */
static void forbidden(struct watch *w, enum finding_kind kind, const struct access *access) {
    if (kind == FINDING_DEVICE_VARIABLE_ON_HOST)
        note_host_store(w, access, program_host_wrote(access->address));
    else if (kind == FINDING_INPUT_WRITTEN)
        event_note_here(w, kind, access);
    else
        event_stop(w, kind, access,
                   kind == FINDING_MISALIGNED ? cudaErrorMisalignedAddress
                                              : cudaErrorIllegalAddress);
}

/* Of the host's own loads and stores: of what is the device's, or the program's that runs the
 * kernel. */
static enum finding_kind kind_of_host(const struct access *access) {
    const struct region *r = region_find(access->address);
    if (r && !r->on_device) return FINDING_NONE;
    if (r) return r->freed ? FINDING_FREED_MEMORY : FINDING_DEVICE_POINTER_ON_HOST;
    if (access->write)
        return program_is_foreign(access->address) ? FINDING_TAMPERING : FINDING_NONE;
    return program_device_wrote(access->address) ? FINDING_DEVICE_VARIABLE_ON_HOST : FINDING_NONE;
}

static void forbidden_to_host(const struct access *access) {
    const struct event event = {.kind = kind_of_host(access),
                                .write = access->write,
                                .code = access->code,
                                .address = access->address,
                                .size = access->size};
    if (event.kind) host_stop(&event);
    if (access->write) program_host_writes(access->address, access->size, access->code);
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

const struct detector detector_forbidden = {
    .forbidden = forbidden, .host_access = forbidden_to_host, .copied = input_by_copy};

/* --- device memory that the wrapper has allocated and not freed ------------------------------- */

static void leak_left(enum finding_kind kind, struct event *event) {
    for (const struct region *r = kind == FINDING_LEAK ? region_first() : NULL; r; r = r->next) {
        if (!r->in_wrapper || r->freed || !r->bytes) continue;
        event->kind = FINDING_LEAK;
        event->bytes += r->bytes;
        event->count++;
        event->place = place_find(r->frames, r->frame_count); /* the last is the first allocated */
    }
}

const struct detector detector_leak = {.left = leak_left};

/* --- stacks: another thread's local variables; and stores to what a function returns with ----- */

/* That of the checker's function that the kernel has called. */
static const struct frame *callee_of(const struct access *access) {
    enum { FRAMES = 6 };
    const struct frame *const here = __builtin_frame_address(0), *each = here;
    for (int i = 0; i < FRAMES && each->returns_to != access->code; ++i) each = each->caller;
    return each->returns_to == access->code ? each : here;
}

static bool is_led_astray(const struct watch *w);

/* On a GPU, a thread that has a pointer to another one's local variable finds something else there;
 * but what a bad index has led there is the bad index's. No store there, or to what is no variable,
 * is made: a function would return to anywhere. Below the frames are variables of functions that
 * have returned, and what other threads have left. */
static void on_stack(struct watch *w, const struct access *access) {
    const struct frame *callee = callee_of(access);
    const bool here = stack_end(w, callee) - access->address - 1 < STACK_BYTES;
    const bool astray = is_led_astray(w);
    const enum finding_kind kind =
        here || astray ? FINDING_LOCAL_OUT_OF_BOUNDS : FINDING_FOREIGN_LOCAL;
    if (here && (access->write ? stack_may_store(w, access->address, access->size, callee)
                               : stack_is_local(w, access->address, callee)))
        return;
    if (access->write || (astray && !here)) event_stop(w, kind, access, cudaErrorIllegalAddress);
    if (event_is_wanted(kind, access->code, NULL)) event_note_here(w, kind, access);
}

const struct detector detector_stack = {.on_stack = on_stack};

/* --- indices that the compiler's bounds check objects to ---------------------------------------
 *
 * It says the array's type, the index and the place, and not which array. That it is not shared is
 * known by its name in the source; which it is else follows from the access that comes next. */

extern const struct detector detector_index;

enum { ACCESSES_OF_A_STATEMENT = 8 }; /* among which the one with the bad index is looked for */

/* Of a worker; pending while the reason SLOW_INDEX is there. */
struct bad_index {
    unsigned thread;
    bool not_shared;
    uintptr_t variable; /* then: its address, if it is not local */
    int accesses;       /* seen since */
    const char *file, *type;
    int line, column;
    long index;
};

static struct bad_index *bad_index(const struct watch *w) {
    return detector_state(&detector_index, w);
}

/* The running thread has used such an index of an array that is not shared, and what that gave. */
static bool is_led_astray(const struct watch *w) {
    return bad_index(w)->not_shared && bad_index(w)->thread == running_index.linear;
}

static bool is_pending(const struct watch *w) { return w->slow & SLOW_INDEX; }

static void note_index(struct watch *w, enum finding_kind kind, const struct access *access) {
    const struct bad_index *bad = bad_index(w);
    const struct access none = {.address = 0};
    struct event event = event_here(w, kind, access ? access : &none);
    event.thread = bad->thread;
    event.file = bad->file;
    event.line = bad->line;
    event.has_index = true;
    event.index = bad->index;
    strncpy(event.array_type, bad->type, sizeof event.array_type - 1);
    event_note(&event);
    watch_fast(w, SLOW_INDEX);
}

/* No access followed: it was a local array; or the compiler left the access out. */
static void give_up(struct watch *w) {
    struct shared_name name;
    bool shared = name_any_ends_as(bad_index(w)->type, &name);
    note_index(w, shared ? FINDING_SHARED_OUT_OF_BOUNDS : FINDING_LOCAL_OUT_OF_BOUNDS, NULL);
}

static void index_interval_ends(struct watch *w) {
    if (is_pending(w)) give_up(w);
}

static void index_thread_waits(struct watch *w, unsigned thread, bool returned) {
    (void)returned;
    if (is_pending(w) && bad_index(w)->thread == thread) give_up(w);
}

static void look_up(struct bad_index *bad) {
    char name[64];
    bad->not_shared = source_array_at(bad->file, bad->line, bad->column, name, sizeof name) &&
                      name_is_not_shared(name, &bad->variable);
}

static void begins_index(struct watch *w, const char *file, int line, int column, const char *type,
                         long index) {
    struct bad_index *bad = bad_index(w);
    if (event_enough()) return;
    if (is_pending(w)) give_up(w);
    /* Once of a place: it may be bad in each turn of a loop. */
    const bool again = bad->file == file && bad->line == line && bad->column == column;
    bad->thread = running_index.linear;
    bad->accesses = 0;
    bad->file = file;
    bad->line = line;
    bad->column = column;
    bad->type = type;
    bad->index = index;
    if (!again) look_up(bad);
    const struct access of_variable = {.address = bad->variable};
    if (bad->not_shared)
        note_index(w, FINDING_LOCAL_OUT_OF_BOUNDS, &of_variable);
    else
        watch_slowly(w, SLOW_INDEX);
}

/* Whether the index, taken back, leads from the access to a __device__ or __constant__ variable. */
static bool is_of_variable(const struct bad_index *bad, const struct access *access) {
    size_t stride = access->size;
    struct shared_name variable;
    for (const char *p = strchr(bad->type, ']'); p && (p = strchr(p, '[')); ++p)
        stride *= strtoul(p + 1, NULL, 10);
    const uintptr_t begin = access->address - (size_t)bad->index * stride;
    return program_holds(begin) && name_of_variable((const void *)begin, &variable);
}

/* Whether this access is the one. */
static void access_follows(struct watch *w, const struct access *access) {
    struct bad_index *bad = bad_index(w);
    struct shared_name name;
    if (!is_pending(w)) return;
    const size_t offset = access->address - (uintptr_t)w->memory.thread_local_storage.begin;
    if (running_index.linear != bad->thread) return;
    if (!name_of_index(offset, bad->type, bad->index, &name)) {
        if (is_of_variable(bad, access))
            note_index(w, FINDING_LOCAL_OUT_OF_BOUNDS, access);
        else if (++bad->accesses >= ACCESSES_OF_A_STATEMENT)
            give_up(w);
        return;
    }
    note_index(w, FINDING_SHARED_OUT_OF_BOUNDS, access);
    if (!watch_is_shared(w, access->address)) /* whatever is there */
        event_stop(w, FINDING_SHARED_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
}

/* Without such an index. */
static void outside_object(struct watch *w, const struct access *access, const char *file,
                           int line) {
    const bool hidden = region_find(access->address) != NULL;
    const enum finding_kind kind = hidden ? FINDING_UNSEEN : FINDING_LOCAL_OUT_OF_BOUNDS;
    if (!event_is_wanted(kind, access->code, NULL) || (is_pending(w) && !hidden)) return;
    struct event event = event_here(w, kind, access);
    event.file = file;
    event.line = line;
    event_note(&event);
}

const struct detector detector_index = {.worker_bytes = sizeof(struct bad_index),
                                        .thread_waits = index_thread_waits,
                                        .interval_ends = index_interval_ends,
                                        .bad_index = begins_index,
                                        .access = access_follows,
                                        .outside_object = outside_object};
