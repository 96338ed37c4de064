/* Global memory: A, B and C, what the wrapper allocates, and everything else a kernel may reach.
 *
 * A and B may be read and not written. All other device memory has a shadow: who wrote and who read
 * each word last. Two blocks of a launch are never ordered, two threads of a block only by
 * barriers; an atomic races with nobody, and blocks that use atomics are taken to know what they
 * wait for (the last block of a split sum, say, which counts the others). */
#define _GNU_SOURCE
#include "watch.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Who touched a word: the block, in which launch; and a record as in shared memory. */
struct global_access {
    uint64_t block_and_launch; /* 40 and 24 bits; launch 0: nobody, or a copy */
    record when;               /* 0: never */
};
struct global_word {
    struct global_access write, read;
};

enum { LAUNCH_BITS = 24, LOCKS = 256 };

static struct region *regions;
static pthread_mutex_t regions_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t launch_number;
static pthread_spinlock_t locks[LOCKS];

__attribute__((constructor)) static void make_locks(void) {
    for (int i = 0; i < LOCKS; ++i) pthread_spin_init(&locks[i], PTHREAD_PROCESS_PRIVATE);
}

/* --- regions ---------------------------------------------------------------------------------- */

struct region *global_regions(void) {
    return regions;
}

static bool holds(const struct region *r, uintptr_t address) {
    return address - r->begin < r->bytes;
}

struct region *global_find(uintptr_t address) {
    for (struct region *r = regions; r; r = r->next)
        if (holds(r, address)) return r;
    return NULL;
}

static uintptr_t distance(const struct region *r, uintptr_t address) {
    if (address < r->begin) return r->begin - address;
    return holds(r, address) ? 0 : address - (r->begin + r->bytes) + 1;
}

struct region *global_nearest(uintptr_t address) {
    struct region *best = NULL;
    for (struct region *r = regions; r; r = r->next)
        if (!r->freed && (!best || distance(r, address) < distance(best, address))) best = r;
    return best;
}

const struct region *global_named(const char *name) {
    for (const struct region *r = regions; r; r = r->next)
        if (r->name && !r->freed && strcmp(r->name, name) == 0) return r;
    return NULL;
}

static size_t shadow_bytes(const struct region *r) {
    return (r->bytes + WORD - 1) / WORD * sizeof(struct global_word);
}

static void make_shadow(struct region *r) {
    r->shadow = mmap(NULL, shadow_bytes(r), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (r->shadow == MAP_FAILED) r->shadow = NULL; /* unwatched, then */
}

static void drop_shadow(struct region *r) {
    if (r->shadow) munmap(r->shadow, shadow_bytes(r));
    r->shadow = NULL;
}

void global_allocated(char *begin, size_t bytes, bool on_device) {
    struct region *r = calloc(1, sizeof *r);
    if (!r) return;
    r->begin = (uintptr_t)begin;
    r->bytes = bytes;
    r->on_device = on_device;
    r->in_wrapper = host_in_wrapper();
    r->frame_count = fault_backtrace(r->frames, (int)(sizeof r->frames / sizeof *r->frames));
    make_shadow(r);
    pthread_mutex_lock(&regions_lock);
    for (struct region *old = regions; old; old = old->next) /* the addresses are used again */
        if (old->freed && holds(old, r->begin)) old->bytes = 0;
    r->next = regions;
    regions = r;
    pthread_mutex_unlock(&regions_lock);
}

void global_freed(char *begin) {
    struct region *r = global_find((uintptr_t)begin);
    if (!r) return;
    r->freed = true;
    drop_shadow(r);
}

/* What a copy brings counts as written, long ago. */
void global_copied(char *to, size_t bytes) {
    struct region *r = global_find((uintptr_t)to);
    if (r && r->role == CHECKER_INPUT && host_in_wrapper()) host_changes_input((uintptr_t)to);
    if (!r || !r->shadow) return;
    size_t first = ((uintptr_t)to - r->begin) / WORD, count = (bytes + WORD - 1) / WORD;
    for (size_t i = first; i < first + count && i * WORD < r->bytes; ++i)
        r->shadow[i].write = (struct global_access){.when = RECORD_BEFORE};
}

void checker_name_matrix(const float *data, const char *name, int rows, int cols,
                         enum checker_role role) {
    struct region *r = global_find((uintptr_t)data);
    if (!r) return;
    r->name = name;
    r->rows = rows;
    r->cols = cols;
    r->role = role;
    drop_shadow(r);
    r->bytes = (size_t)rows * (size_t)cols * sizeof *data;
    if (role != CHECKER_INPUT) make_shadow(r);
}

void global_begin_launch(void) { launch_number++; }

/* The inputs that the fast way knows. */
void global_watch_inputs(struct watch *w) {
    static const char *const names[A_AND_B] = {"A", "B"};
    for (int i = 0; i < A_AND_B; ++i) {
        const struct region *r = global_named(names[i]);
        bool input = r && r->role == CHECKER_INPUT;
        w->input[i] = (struct span){input ? r->begin : 0, input ? r->bytes / WORD : 0};
    }
}

/* --- faults: the launch ends with them -------------------------------------------------------- */

static void stop(struct watch *w, enum finding_kind kind, const struct access *access,
                 cudaError_t error) {
    struct event event = event_here(w, kind, access);
    event_note(&event);
    fault_raise(error, NULL);
}

/* Whether the address is mapped into this process at all. */
static bool is_mapped(uintptr_t address) {
    unsigned long begin, end;
    char rights[8];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return false;
    while (!found && fscanf(maps, "%lx-%lx %7s%*[^\n]", &begin, &end, rights) == 3)
        found = address >= begin && address < end && rights[0] == 'r';
    fclose(maps);
    return found;
}

static bool within(const struct range *range, uintptr_t address) {
    return address >= (uintptr_t)range->begin && address < (uintptr_t)range->end;
}

/* __device__ and __constant__ variables; and what lies beside them. */
static void access_program(struct watch *w, const struct access *access) {
    if (!access->write) return;
    if (program_is_foreign(access->address))
        stop(w, FINDING_TAMPERING, access, cudaErrorIllegalAddress);
    for (unsigned at = 0; at < access->size; at += WORD)
        program_kernel_writes(access->address + at);
}

/* An address in no allocation. */
static void access_elsewhere(struct watch *w, const struct access *access) {
    if (program_holds(access->address)) {
        access_program(w, access);
        return;
    }
    if (within(&w->memory.own, access->address)) return; /* what a shuffle brings */
    if (!memory_is_device((const void *)access->address) && is_mapped(access->address))
        stop(w, FINDING_HOST_POINTER_ON_DEVICE, access, cudaErrorIllegalAddress);
    stop(w, FINDING_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
}

/* --- races ------------------------------------------------------------------------------------ */

static uint64_t here(const struct watch *w) {
    return w->block << LAUNCH_BITS | (launch_number & ((1u << LAUNCH_BITS) - 1));
}

static bool races(const struct watch *w, record now, const struct global_access *earlier) {
    uint64_t other = earlier->block_and_launch, mine = here(w);
    const uint64_t launch = (1u << LAUNCH_BITS) - 1;
    if ((other & launch) == 0 || ((other ^ mine) & launch)) return false;
    if ((now | earlier->when) & RECORD_EXEMPT) return false;
    if (other != mine) return !w->block_synchronised;
    return earlier->when >= w->interval && ((now ^ earlier->when) & RECORD_THREAD_MASK) &&
           !record_ordered(now, earlier->when) &&
           !(w->any_synchronised && w->synchronised[record_thread(now)]);
}

static void tell_race(struct watch *w, const struct access *access,
                      const struct global_access *earlier, bool earlier_writes) {
    struct event event = event_here(w, FINDING_GLOBAL_RACE, access);
    event.has_other = true;
    event.other_write = earlier_writes;
    event.other_code = record_code(earlier->when);
    event.other_thread = record_thread(earlier->when);
    event.other_block = earlier->block_and_launch >> LAUNCH_BITS;
    event_note(&event);
}

/* A word with a shadow. The lock: blocks on other cores may be at the same word. What the host has
 * written into memory that both sides reach, nobody knows here. */
static void touch(struct watch *w, struct region *r, size_t index, const struct access *access) {
    struct global_word *word = &r->shadow[index];
    pthread_spinlock_t *lock = &locks[index % LOCKS];
    record now = record_now(w, access->code);
    if (access->atomic || access->size < WORD) now |= RECORD_EXEMPT;
    const struct global_access mine = {here(w), now};
    pthread_spin_lock(lock);
    const struct global_word before = *word;
    if (access->write) word->write = mine;
    if (!access->write || access->atomic) word->read = mine;
    pthread_spin_unlock(lock);
    if ((!access->write || access->atomic) && !before.write.when && r->on_device) {
        struct event event = event_here(w, FINDING_UNINITIALISED_GLOBAL, access);
        event.atomic = access->atomic;
        event_note(&event);
    } else if (races(w, now, &before.write)) {
        tell_race(w, access, &before.write, true);
    } else if (access->write && races(w, now, &before.read)) {
        tell_race(w, access, &before.read, false);
    }
}

/* --- accesses --------------------------------------------------------------------------------- */

static void access_region(struct watch *w, struct region *r, const struct access *access) {
    if (access->address + access->size > r->begin + r->bytes)
        stop(w, FINDING_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
    size_t first = (access->address - r->begin) / WORD;
    size_t last = (access->address + access->size - 1 - r->begin) / WORD;
    if (r->role == CHECKER_INPUT) {
        if (r->name[0] == 'A') w->last_a[running_index.linear] = (uint32_t)first + 1;
        if (!access->write) return;
        struct event event = event_here(w, FINDING_INPUT_WRITTEN, access);
        event_note(&event);
        return;
    }
    for (size_t i = first; i <= last && r->shadow; ++i) touch(w, r, i, access);
}

void global_access(struct watch *w, const struct access *access) {
    if (within(&w->memory.stacks, access->address)) return;
    if (w->bad_index.pending && ++w->bad_index.accesses > ACCESSES_OF_A_STATEMENT)
        shared_give_up_bad_index(w);
    if (access->atomic)
        w->any_synchronised = w->block_synchronised = w->synchronised[running_index.linear] = true;
    struct region *r = global_find(access->address);
    if (!r) {
        access_elsewhere(w, access);
        return;
    }
    if (r->freed) stop(w, FINDING_FREED_MEMORY, access, cudaErrorIllegalAddress);
    if (access->size <= 16 && access->address % access->size != 0)
        stop(w, FINDING_MISALIGNED, access, cudaErrorMisalignedAddress);
    access_region(w, r, access);
}
