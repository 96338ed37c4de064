/* Global memory: the arrays, what the wrapper allocates, __device__ variables, and everything
 * else a kernel can access.
 *
 * Inputs may be read and not written. All other device memory has cells, which remember who
 * accessed each word (shadow.h). No barrier orders two blocks of a launch; shadow.h says what does.
 */
#define _GNU_SOURCE
#include "../../cuda/program/program.h"
#include "../detector.h"
#include "shadow.h"
#include <pthread.h>
#include <sched.h>

/* --- kernel.cu's variables -------------------------------------------------------------------- */

extern const char __executable_start[], _end[];

static struct {
    uintptr_t begin, end;
    struct cells cells;
} watched[PROGRAM_EXTENTS];

enum { LOCKS = 256 };
static pthread_spinlock_t locks[LOCKS];

__attribute__((constructor)) static void make_cells_and_locks(void) {
    for (int i = 0; i < LOCKS; ++i) pthread_spin_init(&locks[i], PTHREAD_PROCESS_PRIVATE);
    settled_make_program((uintptr_t)__executable_start, (uintptr_t)_end);
    for (int i = 0; i < PROGRAM_EXTENTS; ++i) {
        program_extent(i, &watched[i].begin, &watched[i].end);
        watched[i].begin = watched[i].begin / WORD * WORD;
        cells_make(&watched[i].cells, (watched[i].end - watched[i].begin) / WORD + 1);
        cells_set_written(&watched[i].cells, 0, watched[i].cells.words); /* by initializers */
    }
}

/* Of the variables among which the address is; null: it is among none. */
static struct cells *variables_cells(uintptr_t address, uintptr_t *begin) {
    for (int i = 0; i < PROGRAM_EXTENTS; ++i) {
        *begin = watched[i].begin;
        if (address >= watched[i].begin && address < watched[i].end) return &watched[i].cells;
    }
    return NULL;
}

struct cells *global_cells(uintptr_t address, uintptr_t *begin) {
    struct region *r = region_find(address);
    if (!r) return variables_cells(address, begin);
    *begin = r->begin;
    return &r->cells;
}

/* --- words ------------------------------------------------------------------------------------ */

static bool is_plain_read(const struct access *access) { return !access->write && !access->strong; }

/* Who has it may wait for a processor. */
static void take_lock(pthread_spinlock_t *lock) {
    enum { TRIES = 200 };
    for (int i = 1; pthread_spin_trylock(lock); ++i)
        if (i % TRIES == 0) sched_yield();
}

/* A word of memory that begins at `begin`, and may hold no value at first. The lock: blocks on
 * other cores may be at the same one. */
static void access_word(struct watch *w, const struct cells *cells, uintptr_t begin, size_t word,
                        const struct access *access, bool holds_a_value) {
    if (event_enough()) return;
    const uintptr_t address = begin + word * WORD;
    const bool known = is_plain_read(access) && cells_know_reads(w->order, cells, word);
    pthread_spinlock_t *lock = w->launch->alone ? NULL : &locks[word % LOCKS];
    if (lock) take_lock(lock);
    if (access->write) settled_clear(address);
    if (known) {
        if (cells_know_reads(w->order, cells, word)) settled_set(address);
        if (lock) pthread_spin_unlock(lock);
        return;
    }
    holds_a_value = holds_a_value || !access_reads(access) || cells_are_written(cells, word);
    const struct conflict conflict =
        cells_access(w->order, cells, word, cells_bytes(address, access), access);
    if (lock) pthread_spin_unlock(lock);
    if (!holds_a_value)
        HEAR(global_unwritten, w, access);
    else if (conflict.with.when)
        HEAR(global_conflict, w, access, &conflict.with, conflict.write);
}

/* --- addresses in no allocation --------------------------------------------------------------- */

/* __device__ and __constant__ variables; and what lies beside them. */
static void access_program(struct watch *w, const struct access *access) {
    uintptr_t begin;
    const struct cells *cells = variables_cells(access->address, &begin);
    if (access->write && program_is_foreign(access->address))
        HEAR(forbidden, w, FINDING_TAMPERING, access);
    if (access_reads(access) && program_host_wrote(access->address))
        HEAR(forbidden, w, FINDING_DEVICE_VARIABLE_ON_HOST, access);
    if (access->write) program_device_writes(access->address, access->size);
    if (!cells && is_plain_read(access) && access->size % WORD == 0)
        for (unsigned at = 0; at < access->size; at += WORD) /* no kernel can write it: tables of */
            settled_set(access->address + at);               /* virtual functions, say */
    if (!cells) return;
    const size_t last = (access->address + access->size - 1 - begin) / WORD;
    for (size_t i = (access->address - begin) / WORD; i <= last && i < cells->words; ++i)
        access_word(w, cells, begin, i, access, true);
}

/* An address in no allocation, or beside the array that is in one. */
static void access_elsewhere(struct watch *w, const struct access *access) {
    if (program_holds(access->address)) {
        access_program(w, access);
        return;
    }
    const struct range *exchanged = &w->memory.exchanged;
    if (access->address < (uintptr_t)exchanged->begin ||
        access->address >= (uintptr_t)exchanged->end)
        HEAR(outside, w, access);
    else if (access->write) /* what a shuffle brings */
        HEAR(forbidden, w, FINDING_TAMPERING, access);
}

/* --- accesses --------------------------------------------------------------------------------- */

static void access_region(struct watch *w, struct region *r, const struct access *access) {
    if (access->address + access->size > r->begin + r->bytes) HEAR(outside, w, access);
    size_t first = (access->address - r->begin) / WORD;
    size_t last = (access->address + access->size - 1 - r->begin) / WORD;
    if (region_is_input(r)) {
        if (r == region_with_phases()) w->last_read[running_index.linear] = (uint32_t)first + 1;
        if (access->write) HEAR(forbidden, w, FINDING_INPUT_WRITTEN, access);
        return;
    }
    /* All workers store here: what is there already would only take the line from the others. */
    if (access->write && __atomic_load_n(&r->stored, __ATOMIC_RELAXED) != access->code)
        __atomic_store_n(&r->stored, access->code, __ATOMIC_RELAXED);
    /* What the host has written into memory that both sides access is not known here. */
    for (size_t i = first; i <= last && i < r->cells.words; ++i)
        access_word(w, &r->cells, r->begin, i, access, !r->on_device);
}

void global_access(struct watch *w, const struct access *access) {
    struct region *r = region_find(access->address);
    if (!r) {
        access_elsewhere(w, access);
        return;
    }
    if (r->freed) {
        HEAR(forbidden, w, FINDING_FREED_MEMORY, access);
        return; /* its cells are gone */
    }
    if (access_is_misaligned(access)) HEAR(forbidden, w, FINDING_MISALIGNED, access);
    access_region(w, r, access);
}
