/* What the runtime reports, passed on to the detectors: blocks, barriers, threads that return, warp
 * synchronizations, asynchronous copies.
 *
 * A barrier opens when all threads that have not returned are there, whichever line they wait at,
 * as on the hardware; that they wait at different ones of the text is a mistake. A compiler may
 * make several barriers of one, so they are compared by their numbers in the text, and by line. */
#define _GNU_SOURCE
#include "block.h"
#include "detector.h"
#include "launches.h"
#include "machine.h"
#include "shadow/shadow.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct watch *attach(void) {
    extern const char __executable_start[], etext[];
    if (etext - __executable_start >= 1 << CODE_BITS)
        machine_fault("the program is too large to be checked: over 16 MB of code");
    struct watch *w = watch_attach();
    w->order = machine_memory(order_make(&w->epochs));
    w->states = machine_memory(calloc(1, detector_worker_bytes() + 1));
    shared_attach(w);
    return w;
}

static void begin_interval(struct watch *w, epoch interval) {
    w->epochs.interval = interval;
    for (unsigned i = 0; i < w->launch->block_threads; ++i)
        w->epochs.thread[i] = interval | (epoch)i << THREAD_BIT;
    memset(w->arrived, 0, sizeof w->arrived);
    w->raced = NULL;
    w->follows = false;
    if (!w->epochs.many_steps && !w->epochs.has_pairs) return;
    w->epochs.many_steps = w->epochs.has_pairs = false;
    watch_fast(w, SLOW_STEPS);
}

static void block_begins(const struct launch *launch, uint64_t index) {
    struct watch *w = watch_here();
    if (!w) w = attach();
    w->launch = launch;
    w->epochs.block = index;
    w->epochs.threads = launch->block_threads;
    w->returned = w->returned_at_barrier = 0;
    w->epochs.returned = w->all_returned_at_barrier = (struct threads){{0}};
    w->last_barrier = NULL;
    memset(w->last_read, 0, sizeof w->last_read);
    if (w->any_copied) memset(w->copied, 0, sizeof w->copied);
    if (!event_tile_width()) memset(w->read_at_barrier, 0, sizeof w->read_at_barrier);
    if (w->any_compared) memset(w->failed_swap, 0, sizeof w->failed_swap);
    w->ended = w->any_copied = w->any_compared = w->synchronizes = false;
    w->slow = 0;
    order_begin_block(w->order);
    begin_interval(w, EPOCH_INTERVAL(FIRST_INTERVAL));
    shared_begin_block(w);
    HEAR(block_comes, w);
    HEAR(block_begins, w);
    watch_fast(w, 0);
}

static void end_interval(struct watch *w) {
    HEAR(interval_ends, w);
    shared_end_interval(w);
}

static void block_ended(void) {
    struct watch *w = watch_here();
    end_interval(w);
    HEAR(block_ended, w);
}

/* --- threads and warps ------------------------------------------------------------------------ */

/* Where earlier threads have had their local variables, the running one is not to find them: fills
 * so many bytes below the caller with NaN. */
static __attribute__((noinline)) void spoil_stack(size_t bytes) {
    void *below = __builtin_alloca(bytes);
    memset(below, 0xFF, bytes);
    __asm__ volatile("" : : "r"(below) : "memory");
}

/* A launch saves them on the stack, where what the last thread had there would be found. */
static void clear_registers(void) {
#ifdef __x86_64__
    __asm__ volatile("pxor %%xmm0, %%xmm0\n\tpxor %%xmm1, %%xmm1\n\t"
                     "pxor %%xmm2, %%xmm2\n\tpxor %%xmm3, %%xmm3\n\t"
                     "pxor %%xmm4, %%xmm4\n\tpxor %%xmm5, %%xmm5\n\t"
                     "pxor %%xmm6, %%xmm6\n\tpxor %%xmm7, %%xmm7"
                     :
                     :
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7");
#endif
}

static void thread_begins(void) {
    enum { MORE = 512, MOST = STACK_BYTES / 2 }; /* a function that makes no slow access */
    struct watch *w = watch_here();
    w->stack_top[running_index.linear] = (uintptr_t)__builtin_frame_address(0);
    spoil_stack(w->deepest + MORE < MOST ? w->deepest + MORE : MOST);
    clear_registers();
}

void watch_renew_stacks(struct watch *w, unsigned threads) {
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), kept = 2 * page;
    uintptr_t low = (uintptr_t)w->memory.stacks.begin;
    for (unsigned i = 0; i < threads; ++i, low += STACK_BYTES) {
        const uintptr_t first = (low + page - 1) & -page, end = (low + STACK_BYTES - kept) & -page;
        if (first < end) (void)madvise((void *)first, end - first, MADV_DONTNEED);
    }
    if (w->deepest < kept) w->deepest = kept;
}

static void thread_returned(unsigned linear) {
    struct watch *w = watch_here();
    w->returned++;
    threads_add(&w->epochs.returned, linear);
    HEAR(thread_waits, w, linear, true);
}

static void warp_parts(void) {
    struct watch *w = watch_here();
    order_warp_parts(w->order);
    watch_steps(w);
}

static void warp_met(unsigned warp, unsigned mask) {
    struct watch *w = watch_here();
    order_warp_met(w->order, warp, mask);
    watch_steps(w);
}

/* --- barriers --------------------------------------------------------------------------------- */

static void barrier_reached(const void *code, unsigned place) {
    struct watch *w = watch_here();
    unsigned linear = running_index.linear;
    HEAR(thread_waits, w, linear, false);
    struct waiting *at = w->arrived;
    if (at->code && at->place != place)
        at++;
    else if (at->code && at->code != code) {
        const struct place there = place_before(at->code), here = place_before(code);
        at += !place_same_line(&there, &here);
    }
    if (!at->code) {
        at->code = code;
        at->place = place;
    }
    threads_add(&at->threads, linear);
}

static void barrier_opens(void) {
    struct watch *w = watch_here();
    end_interval(w);
    HEAR(barrier_opens, w);
    event_learn_tile_width(w);
    w->last_barrier = w->arrived[0].code;
    if (w->returned_at_barrier != w->returned) w->all_returned_at_barrier = w->epochs.returned;
    w->returned_at_barrier = w->returned;
    order_end_interval(w->order);
    begin_interval(w, w->epochs.interval + EPOCH_INTERVAL(1));
}

/* --- asynchronous copies ---------------------------------------------------------------------- */

/* A copy is a load from global memory when it begins; and a store into shared memory that lasts
 * until its thread has waited for it. An access to the destination in between, by that thread too,
 * is too early. */
static void copy_part(const struct async_copy *copy, const char *address, unsigned size, bool to) {
    access_slowly(&(struct access){.address = (uintptr_t)address,
                                   .size = size,
                                   .write = to,
                                   .copying = to,
                                   .group = to ? copy->group : 0,
                                   .code = copy->code});
}

static void copy_begins(const struct async_copy *copy) {
    struct watch *w = watch_here();
    unsigned left = copy->bytes - copy->zeros;
    unsigned step = !copy->zeros ? copy->bytes : WORD; /* a part of a vector need not be aligned */
    for (const char *from = copy->from; left; from += step, left -= step) {
        if (left < step) step = 1;
        copy_part(copy, from, step, false);
    }
    copy_part(copy, copy->to, copy->bytes, true);
    access_announce(copy->from, copy->bytes - copy->zeros);
    w->any_copied = true;
    w->copied[running_index.linear].group = copy->group + 1;
    w->copied[running_index.linear].interval = w->epochs.interval;
}

static void copy_arrived(const struct async_copy *copy) {
    struct watch *w = watch_here();
    const struct access access = {
        .address = (uintptr_t)copy->to, .size = copy->bytes, .write = true, .code = copy->code};
    HEAR(copy_arrived, w, &access);
    shared_copy_arrived(w, &access);
}

static void uses_old(void) {
    if (watch_here()) watch_here()->uses_old = true;
}

static void launch_begins(const struct launch *launch) {
    launches_note(launch);
    order_begin_launch();
    settled_begin_launch();
    HEAR(launch_begins, launch);
}

static void launch_ended(const struct launch *launch) { HEAR(launch_ended, launch); }

void observe_runtime(void) {
    static struct observer all;
    all.launch_begins = launch_begins;
    all.choose_blocks = surplus_choose;
    all.launch_ended = launch_ended;
    all.out_of_memory = machine_fault;
    all.block_begins = block_begins;
    all.block_ended = block_ended;
    all.thread_begins = thread_begins;
    all.barrier_reached = barrier_reached;
    all.barrier_opens = barrier_opens;
    all.thread_returned = thread_returned;
    all.uses_old = uses_old;
    all.warp_parts = warp_parts;
    all.warp_met = warp_met;
    all.copy_begins = copy_begins;
    all.copy_arrived = copy_arrived;
    host_observe(&all);
    HEAR(observes, &all);
    observer = &all;
}
