/* What the threads of the running block know of each other, and release: see shadow.h. */
#include "shadow.h"
#include <stdlib.h>
#include <string.h>

/* Of a warp whose live lanes have all taken part in each of its operations, one row is enough for
 * all of them. */
struct order {
    struct epochs *epochs;                /* of the running block */
    uint64_t where;                       /* of a stamp of the running block, without its step */
    uint32_t step[MAX_BLOCK_THREADS];     /* in this interval */
    uint32_t together[MAX_BLOCK_THREADS]; /* of each thread, the step before which its warp knows */
    uint32_t known[MAX_BLOCK_THREADS][WARP_SIZE]; /* of a warp in `apart`: by thread, of lane */
    uint32_t apart;                               /* a bit for each warp */
    bool stepped;

    /* Fences of this interval: what each thread knew at its last one, of its warp's lanes; zeros:
     * there was none. */
    struct lane_steps fence[MAX_BLOCK_THREADS][WARP_SIZE];
    bool behind_fence[MAX_BLOCK_THREADS]; /* and no volatile store since */
    moment fenced[MAX_BLOCK_THREADS];     /* the last one for the device; 0: none in this block */
    bool any_fence, any_fence_now;        /* in this block, in this interval */
    const struct run *runs;               /* of `fenced`, when this interval began */
    unsigned run_count;
    bool runs_made;
    struct run scratch[MAX_BLOCK_THREADS];

    /* What is acquired: at the last barrier, since, and not behind a fence yet. */
    struct refs of_block, of_thread[MAX_BLOCK_THREADS], pending[MAX_BLOCK_THREADS];
    uintptr_t loaded[MAX_BLOCK_THREADS]; /* by the last volatile load; 0: none is pending */
    bool loaded_in_shared[MAX_BLOCK_THREADS];
    struct threads acquiring; /* that have any of these */
    bool any_acquiring;
};

static uint64_t launch_number;
static bool has_pairs;

bool order_has_pairs(void) { return __atomic_load_n(&has_pairs, __ATOMIC_RELAXED); }
void order_expect_fences(void) { has_pairs = true; }

enum { LAUNCHES = 1 << STAMP_LAUNCH_BITS, HIGH_STEPS = 1 << STAMP_STEP_BITS };

struct stamp order_now(const struct order *o, const struct access *access) {
    const uint64_t high = o->step[running_index.linear] / EPOCH_STEPS % HIGH_STEPS;
    const epoch when = epoch_now(o->epochs, access->code);
    return (struct stamp){o->where | high, access->strong ? when | EPOCH_STRONG : when};
}

struct stamp order_stamp(const struct order *o, epoch when) {
    return (struct stamp){o->where, when};
}

/* --- beginning, ending ------------------------------------------------------------------------ */

void order_begin_launch(void) {
    launch_number++;
    release_begin_launch();
}

struct order *order_make(struct epochs *epochs) {
    struct order *o = calloc(1, sizeof *o);
    if (o) o->epochs = epochs;
    return o;
}

uint64_t order_block(const struct order *o) { return o->epochs->block; }

static void forget_steps(struct order *o) {
    if (o->stepped) {
        memset(o->step, 0, sizeof o->step);
        memset(o->together, 0, sizeof o->together);
    }
    o->apart = 0;
    o->stepped = o->any_fence_now = o->runs_made = false;
}

static void forget_acquired(struct order *o) {
    for (unsigned i = 0; o->any_acquiring && i < MAX_BLOCK_THREADS; ++i) {
        refs_forget(&o->of_thread[i]);
        refs_forget(&o->pending[i]);
        o->loaded[i] = 0;
    }
    o->acquiring = (struct threads){{0}};
    o->any_acquiring = false;
}

void order_begin_block(struct order *o) {
    if (o->any_fence) {
        memset(o->fence, 0, sizeof o->fence);
        memset(o->behind_fence, 0, sizeof o->behind_fence);
        memset(o->fenced, 0, sizeof o->fenced);
        o->any_fence = false;
    }
    forget_steps(o);
    forget_acquired(o);
    refs_forget(&o->of_block);
    o->where = (o->epochs->block << STAMP_LAUNCH_BITS | (launch_number % (LAUNCHES - 1) + 1))
               << STAMP_STEP_BITS;
}

/* Which memory an address is in: release.c. */
static uint64_t shared_of(const struct order *o, bool in_shared) {
    return in_shared ? o->epochs->block + 1 : 0;
}

static uintptr_t word_begin(uintptr_t address) { return address & ~(uintptr_t)(WORD - 1); }

/* What the thread's strong accesses have acquired counts from here on. */
static void complete(struct order *o, unsigned thread) {
    if (!threads_has(&o->acquiring, thread)) return;
    if (o->loaded[thread])
        release_acquire(&o->of_thread[thread], o->loaded[thread],
                        shared_of(o, o->loaded_in_shared[thread]));
    o->loaded[thread] = 0;
    refs_add(&o->of_thread[thread], &o->pending[thread]);
    refs_forget(&o->pending[thread]);
}

void order_end_interval(struct order *o) {
    for (unsigned i = 0; o->any_acquiring && i < o->epochs->threads; ++i) {
        if (!threads_has(&o->acquiring, i)) continue;
        complete(o, i);
        refs_add(&o->of_block, &o->of_thread[i]);
    }
    if (o->any_fence_now) memset(o->fence, 0, o->epochs->threads * sizeof o->fence[0]);
    forget_acquired(o);
    forget_steps(o);
}

/* --- steps and warps -------------------------------------------------------------------------- */

static uint32_t known(const struct order *o, unsigned thread, unsigned of) {
    return o->apart >> (thread / WARP_SIZE) & 1 ? o->known[thread][of % WARP_SIZE]
                                                : o->together[of];
}

/* An epoch has no room for so many steps: the words go into cells from here on. */
static void take_step(struct order *o, unsigned thread) {
    struct epochs *e = o->epochs;
    const uint32_t step = ++o->step[thread];
    o->stepped = true;
    e->thread[thread] = (e->thread[thread] & ~EPOCH_STEP_MASK) | (epoch)(step % EPOCH_STEPS)
                                                                     << STEP_BIT;
    if (step >= EPOCH_STEPS) e->many_steps = true;
}

void order_warp_parts(struct order *o) {
    o->epochs->has_pairs = true;
    __atomic_store_n(&has_pairs, true, __ATOMIC_RELAXED);
}

static void part(struct order *o, unsigned warp) {
    const unsigned first = warp * WARP_SIZE;
    if (o->apart >> warp & 1) return;
    o->apart |= 1u << warp;
    order_warp_parts(o);
    for (unsigned i = 0; i < WARP_SIZE; ++i)
        memcpy(o->known[first + i], &o->together[first], sizeof o->known[0]);
}

/* Each of the lanes learns what one of them knows. One of the mask that has returned is no longer
 * waited for: all that it did comes before the operation. */
static void join_steps(struct order *o, unsigned first, unsigned lanes, unsigned returned) {
    uint32_t most[WARP_SIZE] = {0};
    for (unsigned left = lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        for (unsigned i = 0; i < WARP_SIZE; ++i)
            if (most[i] < o->known[first + lane][i]) most[i] = o->known[first + lane][i];
        most[lane] = o->step[first + lane];
    }
    for (; returned; returned &= returned - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(returned);
        most[lane] = o->step[first + lane] + 1;
    }
    for (unsigned left = lanes; left; left &= left - 1)
        memcpy(o->known[first + (unsigned)__builtin_ctz(left)], most, sizeof most);
}

/* Likewise of what they have released, or acquired. */
static void join_fences(struct order *o, unsigned first, unsigned lanes) {
    struct lane_steps most[WARP_SIZE] = {{0, 0}};
    for (unsigned left = lanes; left; left &= left - 1) {
        const struct lane_steps *steps = o->fence[first + (unsigned)__builtin_ctz(left)];
        for (unsigned i = 0; i < WARP_SIZE; ++i) {
            if (most[i].block < steps[i].block) most[i].block = steps[i].block;
            if (most[i].device < steps[i].device) most[i].device = steps[i].device;
        }
    }
    for (unsigned left = lanes; left; left &= left - 1)
        memcpy(o->fence[first + (unsigned)__builtin_ctz(left)], most, sizeof most);
}

static void join_refs(struct order *o, unsigned first, unsigned lanes) {
    struct refs joined = {0};
    for (unsigned left = lanes; left; left &= left - 1) {
        const unsigned thread = first + (unsigned)__builtin_ctz(left);
        complete(o, thread);
        refs_add(&joined, &o->of_thread[thread]);
    }
    for (unsigned left = joined.count ? lanes : 0; left; left &= left - 1) {
        const unsigned thread = first + (unsigned)__builtin_ctz(left);
        refs_add(&o->of_thread[thread], &joined);
        threads_add(&o->acquiring, thread);
    }
    free(joined.ref);
}

void order_warp_met(struct order *o, unsigned warp, unsigned mask) {
    const unsigned first = warp * WARP_SIZE, count = o->epochs->threads - first;
    const unsigned all = count >= WARP_SIZE ? ~0u : (1u << count) - 1;
    const unsigned gone = (unsigned)(o->epochs->returned.bits[first / 64] >> first % 64);
    const unsigned lanes = mask & all & ~gone, returned = mask & gone;
    if (!(lanes & (lanes - 1)) && !returned) return; /* of a thread alone */
    for (unsigned left = lanes; left; left &= left - 1)
        take_step(o, first + (unsigned)__builtin_ctz(left));
    if (!(all & ~mask) && !(o->apart >> warp & 1)) {
        for (unsigned left = lanes | returned; left; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(left);
            o->together[first + lane] = o->step[first + lane] + (returned >> lane & 1);
        }
    } else {
        part(o, warp);
        join_steps(o, first, lanes, returned);
    }
    if (o->any_fence_now) join_fences(o, first, lanes);
    if (o->any_acquiring) join_refs(o, first, lanes);
}

/* --- fences and strong accesses --------------------------------------------------------------- */

void order_fence(struct order *o, bool device) {
    const unsigned thread = running_index.linear, lane = thread % WARP_SIZE;
    take_step(o, thread);
    complete(o, thread);
    for (unsigned i = 0; i < WARP_SIZE; ++i) {
        const uint32_t steps = i == lane ? o->step[thread] : known(o, thread, thread - lane + i);
        o->fence[thread][i].block = steps;
        if (device) o->fence[thread][i].device = steps;
    }
    if (device) o->fenced[thread] = moment_of(o->epochs->interval, o->step[thread]);
    o->behind_fence[thread] = o->any_fence = o->any_fence_now = o->epochs->has_pairs = true;
}

/* Threads with the same last fence are one run. */
static void make_runs(struct order *o) {
    const unsigned count = o->epochs->threads;
    struct run *runs = o->scratch; /* a thread's stack is small */
    o->run_count = 0;
    o->runs_made = true;
    for (unsigned i = 0; i < count; ++i) {
        const moment begins = moment_of(o->epochs->interval, 0);
        const moment before = o->fenced[i] < begins ? o->fenced[i] : begins;
        struct run *last = o->run_count ? &runs[o->run_count - 1] : NULL;
        if (!before) continue;
        if (last && last->last + 1 == i && last->before == before)
            last->last = i;
        else
            runs[o->run_count++] = (struct run){i, i, before};
    }
    struct run *kept = o->run_count ? release_memory(o->run_count * sizeof *kept) : NULL;
    if (!kept) o->run_count = 0;
    if (kept) memcpy(kept, runs, o->run_count * sizeof *kept);
    o->runs = kept;
}

void order_release(struct order *o, uintptr_t address, bool in_shared) {
    const unsigned thread = running_index.linear;
    if (!o->any_fence) return;
    if (!o->runs_made) make_runs(o);
    bool fenced = false, device = false; /* in this interval */
    for (unsigned i = 0; i < WARP_SIZE; ++i) {
        fenced |= o->fence[thread][i].block != 0;
        device |= o->fence[thread][i].device != 0;
    }
    if (!fenced && !o->run_count) return;
    const struct release release = {.block = o->epochs->block,
                                    .interval = o->epochs->interval,
                                    .all_before = device,
                                    .runs = o->runs,
                                    .run_count = device ? 0 : o->run_count,
                                    .thread = thread,
                                    .step = o->step[thread]};
    const struct refs *const refs[] = {&o->of_block, &o->of_thread[thread]};
    release_add(word_begin(address), shared_of(o, in_shared), &release, o->fence[thread], refs);
}

void order_acquire(struct order *o, uintptr_t address, bool in_shared) {
    const unsigned thread = running_index.linear;
    release_acquire(&o->pending[thread], word_begin(address), shared_of(o, in_shared));
    if (!o->pending[thread].count) return;
    threads_add(&o->acquiring, thread);
    o->any_acquiring = true;
}

/* The value is loaded only after this call, so that the fence behind it acquires once more. */
void order_volatile_load(struct order *o, uintptr_t address, bool in_shared) {
    order_acquire(o, address, in_shared);
    o->loaded[running_index.linear] = word_begin(address);
    o->loaded_in_shared[running_index.linear] = in_shared;
    threads_add(&o->acquiring, running_index.linear);
    o->any_acquiring = true;
}

bool order_is_behind_fence(const struct order *o) { return o->behind_fence[running_index.linear]; }

void order_volatile_store(struct order *o, uintptr_t address, bool in_shared) {
    if (!order_is_behind_fence(o)) return;
    order_release(o, address, in_shared);
    o->behind_fence[running_index.linear] = false;
}

bool order_other_launch(const struct order *o, const struct stamp *s) {
    return (s->where ^ o->where) >> STAMP_STEP_BITS & (LAUNCHES - 1);
}

bool order_before(struct order *o, const struct stamp *earlier, const struct access *access) {
    struct query query = {.access = earlier, .block = o->epochs->block};
    const unsigned thread = running_index.linear, other = epoch_thread(earlier->when);
    const uint64_t differs = earlier->where ^ o->where;
    if (order_other_launch(o, earlier)) return true;
    if (!(differs >> (STAMP_STEP_BITS + STAMP_LAUNCH_BITS))) {
        if ((earlier->when ^ o->epochs->interval) >> INTERVAL_BIT || other == thread) return true;
        if (other / WARP_SIZE == thread / WARP_SIZE &&
            stamp_step(earlier) < known(o, thread, other))
            return true;
    }
    if (access && earlier->when & EPOCH_STRONG) query.released_at = word_begin(access->address);
    return refs_cover(&o->of_block, &query) || refs_cover(&o->of_thread[thread], &query) ||
           (access && access->is_volatile && refs_cover(&o->pending[thread], &query));
}
