/* Global memory: the matrices, what the wrapper allocates, and everything else a kernel can access.
 *
 * Inputs may be read and not written. All other device memory has a shadow: which thread wrote and
 * which read each word last. Two blocks of a launch are never ordered, two threads of a block only
 * by barriers; an atomic races with nothing, and a block that uses atomics is assumed to know what
 * it waits for (the last block of a split sum, say, which counts the others). */
#define _GNU_SOURCE
#include "event.h"
#include "program.h"
#include "regions.h"
#include <pthread.h>
#include <stdio.h>

enum { LAUNCH_BITS = 24, LOCKS = 256 };

static uint64_t launch_number;
static pthread_spinlock_t locks[LOCKS];

__attribute__((constructor)) static void make_locks(void) {
    for (int i = 0; i < LOCKS; ++i) pthread_spin_init(&locks[i], PTHREAD_PROCESS_PRIVATE);
}

void global_begin_launch(void) { launch_number++; }

/* --- addresses in no allocation --------------------------------------------------------------- */

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
        event_stop(w, FINDING_TAMPERING, access, cudaErrorIllegalAddress);
    for (unsigned at = 0; at < access->size; at += WORD)
        program_kernel_writes(access->address + at);
}

/* Whether the launch can go on after an access outside of a matrix: it met no other's memory. */
static bool is_around_a_matrix(uintptr_t address) {
    for (int i = 0; i < CHECKED_MATRICES; ++i) {
        const struct region *r = region_of_matrix(i);
        if (r && region_reaches(r, address)) return true;
    }
    return false;
}

/* An address in no allocation, or beside the matrix that is in one. */
static void access_elsewhere(struct watch *w, const struct access *access) {
    if (program_holds(access->address)) {
        access_program(w, access);
        return;
    }
    if (within(&w->memory.own, access->address)) return; /* what a shuffle brings */
    if (is_around_a_matrix(access->address)) {
        struct event event = event_here(w, FINDING_OUT_OF_BOUNDS, access);
        event_note(&event);
        return;
    }
    if (!memory_is_device((const void *)access->address) && is_mapped(access->address))
        event_stop(w, FINDING_HOST_POINTER_ON_DEVICE, access, cudaErrorIllegalAddress);
    event_stop(w, FINDING_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
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

static void note_race(struct watch *w, const struct access *access,
                      const struct global_access *earlier, bool earlier_writes) {
    struct event event = event_here(w, FINDING_GLOBAL_RACE, access);
    event.has_other = true;
    event.other_write = earlier_writes;
    event.other_code = record_code(earlier->when);
    event.other_thread = record_thread(earlier->when);
    event.other_block = earlier->block_and_launch >> LAUNCH_BITS;
    event_note(&event);
}

/* A word with a shadow. The lock: blocks on other cores may be at the same word. Whether the
 * host has written into memory that both sides access is not known here. */
static void access_word(struct watch *w, struct region *r, size_t index,
                        const struct access *access) {
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
        note_race(w, access, &before.write, true);
    } else if (access->write && races(w, now, &before.read)) {
        note_race(w, access, &before.read, false);
    }
}

/* --- accesses --------------------------------------------------------------------------------- */

static void access_region(struct watch *w, struct region *r, const struct access *access) {
    if (access->address + access->size > r->begin + r->bytes)
        event_stop(w, FINDING_OUT_OF_BOUNDS, access, cudaErrorIllegalAddress);
    size_t first = (access->address - r->begin) / WORD;
    size_t last = (access->address + access->size - 1 - r->begin) / WORD;
    if (region_is_input(r)) {
        if (r->matrix->shows_phases) w->last_read[running_index.linear] = (uint32_t)first + 1;
        if (!access->write) return;
        struct event event = event_here(w, FINDING_INPUT_WRITTEN, access);
        event_note(&event);
        return;
    }
    for (size_t i = first; i <= last && r->shadow; ++i) access_word(w, r, i, access);
}

void global_access(struct watch *w, const struct access *access) {
    if (access->atomic)
        w->any_synchronised = w->block_synchronised = w->synchronised[running_index.linear] = true;
    struct region *r = region_find(access->address);
    if (!r) {
        access_elsewhere(w, access);
        return;
    }
    if (r->freed) event_stop(w, FINDING_FREED_MEMORY, access, cudaErrorIllegalAddress);
    if (access->size <= 16 && access->address % access->size != 0)
        event_stop(w, FINDING_MISALIGNED, access, cudaErrorMisalignedAddress);
    access_region(w, r, access);
}
