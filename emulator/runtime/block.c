/* The threads of one block on one core: which one runs next, barriers, warp operations.
 *
 * A thread runs until it waits. The threads that have begun and not returned form a ring; the one
 * that waits hands over to its neighbour. At each barrier the direction around the ring turns, so
 * that the threads that ran last, whose stacks are still in the cache, run first.
 *
 * What a thread waits for is a gate: a counter that somebody will raise. It may run when the
 * counter is no longer what it was on arrival, so opening a gate costs one addition, however many
 * threads wait. As on the hardware since Volta, a barrier counts arrivals, wherever in the code
 * they are made, and a thread that has returned is no longer waited for. */
#define _GNU_SOURCE
#include "runtime.h"
#include <assert.h>
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

#if defined __SANITIZE_ADDRESS__
#define WITH_ASAN 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifdef WITH_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum {
    /* Room for a thread's local arrays; pages are used as touched. An odd number of pages: with a
     * power of two the stacks' tops would compete for a few sets of the cache and the TLB
     * (measured: twice as slow). */
    STACK_BYTES = 65 * 4096,
    /* How much the tops of neighbouring stacks differ within their pages: an odd number of cache
     * lines, so that they spread over all sets of the L1 cache; and more than a kernel's frame. */
    STACK_STAGGER = 5 * 64,
    MAX_WARPS = MAX_BLOCK_THREADS / WARP_SIZE,
    FORWARD = 0,
    BACKWARD = 1
};

/* The linker puts thread-local storage with initial values first, then a kernel's static shared
 * memory, then dynamic shared memory. The runtime's own variables go in front of all, so that a
 * store behind a shared array does not change who runs. */
__thread char emulator_dynamic_shared[SHARED_PER_BLOCK_OPTIN] __attribute__((aligned(1024)));
#define BEFORE_SHARED __attribute__((section(".tdata.runtime")))

/* The variables that kernels see. This file alone writes them. */
__thread struct running_index running_index __asm__("threadIdx") BEFORE_SHARED;
__thread struct uint3 blockIdx BEFORE_SHARED;
static struct emulator_thread nobody = {.barrier = EMULATOR_NO_BARRIER}; /* outside kernels */
__thread struct emulator_schedule emulator_schedule = {.current = &nobody};
struct dim3 blockDim, gridDim;
const struct observer *observer;
__thread void *observer_worker BEFORE_SHARED;

struct stack {
    fiber idle; /* where a finished thread's fiber waits for another thread */
    char *bottom;
    size_t bytes;
};

/* A thread waits while turn.barrier is the number of the coming barrier; if that is
 * EMULATOR_NO_BARRIER, while *gate == ticket. */
struct thread {
    struct emulator_thread turn; /* first: what ../include/barrier.h knows of it */
    struct thread *link[2];      /* ring neighbours: FORWARD and BACKWARD */
    const uint64_t *gate;
    uint64_t ticket;
    struct stack *stack;
};

/* One operation of the lanes of a warp that name each other in one mask: collecting until all have
 * arrived, then kept until all have read it. A warp has as many as lanes, because its lanes may go
 * separate ways, and each has arrived at one operation, or has yet to read one, at most. */
struct warp_group {
    uint64_t generation; /* the gate */
    unsigned mask, arrived, unread;
    unsigned place; /* of an __activemask(), which has no mask; 0 for all others */
    struct emulator_warp_values {
        uint64_t value[WARP_SIZE];
        unsigned lanes;
    } values;
};

/* One warp of the running block. The last two say by their bits what its groups are doing. */
struct warp {
    unsigned live;       /* lanes that have not returned */
    unsigned collecting; /* groups that some lane has arrived at */
    unsigned unread;     /* groups that some lane has yet to read */
};

struct emulator_votes {
    unsigned arrived, yes;
};

struct worker {
    const struct launch *launch;
    unsigned direction;
    unsigned live, started;
    struct uint3 placed;            /* the size of the block that the threads have places in */
    uint64_t work;                  /* of this block so far: see worker_run_block */
    volatile bool yielding;         /* inside sched_yield: asked by a signal handler */
    unsigned yes;                   /* votes of this barrier so far */
    struct emulator_votes votes[2]; /* of the last two barriers, by number */
    uint64_t never;                 /* a gate whose counter is not what anyone holds: open */
    fiber scheduler;
    struct warp warps[MAX_WARPS];
    struct range thread_local_storage;
    struct range shared[SHARED_RANGES]; /* static shared memory of this OS thread */
    int shared_ranges;
    unsigned idle_count;
    struct stack *idle[MAX_BLOCK_THREADS]; /* last in, first out: the warm one again */
    struct stack stacks[MAX_BLOCK_THREADS];
    struct thread threads[1 + MAX_BLOCK_THREADS + 1]; /* the first and the last never run */
    const void *waits_at[MAX_BLOCK_THREADS]; /* code that a thread waits in, for the message */
    struct copies *copies;                   /* null: no kernel has made an asynchronous copy */
    struct warp_group groups[MAX_WARPS][WARP_SIZE];
    char *stack_memory;
};

static __thread struct worker *this_worker BEFORE_SHARED;

static struct thread *running(void) { return (struct thread *)emulator_schedule.current; }
static bool in_kernel(void) { return emulator_schedule.current != &nobody; }

/* --- stacks ----------------------------------------------------------------------------------- */

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

struct worker *worker_create(void) {
    size_t bytes = (size_t)MAX_BLOCK_THREADS * STACK_BYTES;
    struct worker *worker = aligned_alloc(64, (sizeof *worker + 63) / 64 * 64);
    if (!worker) return NULL;
    memset(worker, 0, sizeof *worker);
    for (unsigned i = 0; i < sizeof worker->threads / sizeof *worker->threads; ++i)
        worker->threads[i].turn.barrier = EMULATOR_NO_BARRIER;
    worker->stack_memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (worker->stack_memory == MAP_FAILED) {
        free(worker);
        return NULL;
    }
    return worker;
}

bool worker_stack_overflowed(const void *address) {
    struct worker *worker = this_worker;
    if (!worker || (const char *)address < worker->stack_memory ||
        (const char *)address >= worker->stack_memory + (size_t)MAX_BLOCK_THREADS * STACK_BYTES)
        return false;
    size_t offset = (size_t)((const char *)address - worker->stack_memory);
    return offset % STACK_BYTES < page_bytes();
}

static void thread_main(void);

/* Gives slot number `slot` its stack, below it a page that nobody may touch: a thread whose local
 * arrays do not fit is stopped, not let into its neighbour's. (Where the system's limit on the
 * number of mappings is reached, the page stays open; that costs the check, nothing else.) */
static struct stack *stack_make(struct worker *worker, unsigned slot) {
    struct stack *stack = &worker->stacks[slot];
    char *low = worker->stack_memory + (size_t)slot * STACK_BYTES;
    (void)mprotect(low, page_bytes(), PROT_NONE);
    stack->bottom = low + page_bytes();
    stack->bytes = STACK_BYTES - page_bytes() - slot * STACK_STAGGER % page_bytes();
    return fiber_create(&stack->idle, stack->bottom, stack->bytes, thread_main) ? stack : NULL;
}

static struct stack *stack_take(struct worker *worker) {
    if (worker->idle_count) return worker->idle[--worker->idle_count];
    for (unsigned slot = 0; slot < MAX_BLOCK_THREADS; ++slot)
        if (!worker->stacks[slot].bottom) {
            struct stack *stack = stack_make(worker, slot);
            if (!stack) break;
            return stack;
        }
    fprintf(stderr, "out of memory: no stack for another thread of the block\n");
    abort();
}

/* --- shared memory ---------------------------------------------------------------------------- */

static void range_add(struct worker *worker, char *begin, char *end) {
    const size_t most = sizeof worker->shared / sizeof *worker->shared;
    if (begin < end && (size_t)worker->shared_ranges < most)
        worker->shared[worker->shared_ranges++] = (struct range){begin, end};
}

static int by_address(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* __shared__ variables are thread-local ones of the program: its thread-local block, less the
 * variables that the runtime keeps there, is the static shared memory. */
static int find_shared(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct worker *worker = data;
    char *block = info->dlpi_tls_data;
    size_t bytes = 0;
    for (int i = 0; i < info->dlpi_phnum; ++i)
        if (info->dlpi_phdr[i].p_type == PT_TLS) bytes = info->dlpi_phdr[i].p_memsz;
    struct range ours[] = {
        {(char *)&running_index, (char *)(&running_index + 1)},
        {(char *)&blockIdx, (char *)(&blockIdx + 1)},
        {(char *)&emulator_schedule, (char *)(&emulator_schedule + 1)},
        {(char *)&this_worker, (char *)(&this_worker + 1)},
        {(char *)&observer_worker, (char *)(&observer_worker + 1)},
        {emulator_dynamic_shared, emulator_dynamic_shared + sizeof emulator_dynamic_shared},
        {block + bytes, block + bytes},
    };
    const size_t count = sizeof ours / sizeof *ours;
    if (!block || (char *)&running_index < block || (char *)&running_index >= block + bytes)
        return 0;
    worker->thread_local_storage = (struct range){block, block + bytes};
    qsort(ours, count, sizeof *ours, by_address);
    for (size_t i = 0; i < count; ++i) {
        range_add(worker, block, ours[i].begin);
        block = ours[i].end;
    }
    return 1;
}

struct worker_memory worker_memory(void) {
    const struct worker *worker = this_worker;
    char *low = worker->stack_memory;
    struct worker_memory memory = {
        .own = {(char *)this_worker, (char *)(this_worker + 1)},
        .stacks = {low, low + (size_t)MAX_BLOCK_THREADS * STACK_BYTES},
        .thread_local_storage = worker->thread_local_storage,
        .shared_ranges = worker->shared_ranges,
    };
    memcpy(memory.shared, worker->shared, sizeof memory.shared);
    return memory;
}

/* In words, which is what a wchar_t is. */
static void poison(char *begin, const char *end) {
    static_assert(sizeof(wchar_t) == sizeof(uint32_t), "wmemset sets words");
    wmemset((wchar_t *)(void *)begin, (wchar_t)POISON_SHARED,
            (size_t)(end - begin) / sizeof(wchar_t));
}

static void poison_shared(struct worker *worker) {
    for (int i = 0; i < worker->shared_ranges; ++i)
        poison(worker->shared[i].begin, worker->shared[i].end);
    poison(emulator_dynamic_shared, emulator_dynamic_shared + worker->launch->shared_bytes);
}

void worker_attach(struct worker *worker) {
    this_worker = worker;
    dl_iterate_phdr(find_shared, worker);
}

/* --- who runs next ---------------------------------------------------------------------------- */

static bool may_run(const struct thread *thread) {
    if (thread->turn.barrier != EMULATOR_NO_BARRIER)
        return thread->turn.barrier != emulator_schedule.barrier;
    return *thread->gate != thread->ticket;
}

static void wait_at(struct thread *thread, const uint64_t *gate) {
    thread->turn.barrier = EMULATOR_NO_BARRIER;
    thread->gate = gate;
    thread->ticket = *gate;
}

static void wait_at_barrier(struct thread *thread) {
    if (FIBER_IN_KERNELS)
        thread->turn.barrier = emulator_schedule.barrier;
    else /* no kernel may switch to this thread by itself */
        wait_at(thread, &emulator_schedule.barrier);
}

static void open_to_all(struct worker *worker, struct thread *thread) {
    wait_at(thread, &worker->never);
    thread->ticket = 1; /* never is 0 */
}

static void switch_stacks(fiber *save, const fiber *to, const struct stack *stack) {
#ifdef WITH_ASAN
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, stack ? stack->bottom : NULL, stack ? stack->bytes : 0);
    fiber_switch(save, to);
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#else
    (void)stack;
    fiber_switch(save, to);
#endif
}

static void make_current(struct thread *thread) {
    emulator_schedule.current = &thread->turn;
    running_index = (struct running_index){thread->turn.index, thread->turn.linear};
}

static void set_direction(struct worker *worker, unsigned direction) {
    const ptrdiff_t bytes = sizeof(struct thread);
    worker->direction = direction;
    emulator_schedule.step = direction == FORWARD ? bytes : -bytes;
}

/* The threads' places in a block of this size: the same in all blocks of a launch. */
static void place_threads(struct worker *worker, const struct uint3 *size) {
    struct uint3 index = {0, 0, 0};
    if (memcmp(&worker->placed, size, sizeof *size) == 0) return;
    worker->placed = *size;
    for (unsigned linear = 0; linear < size->x * size->y * size->z; ++linear) {
        struct emulator_thread *thread = &worker->threads[1 + linear].turn;
        thread->linear = linear;
        thread->index = index;
        if (++index.x < size->x) continue;
        index.x = 0;
        if (++index.y < size->y) continue;
        index.y = 0;
        index.z++;
    }
}

/* The next thread that has not begun, on the given stack. Not yet in the ring. */
static struct thread *begin_next(struct worker *worker, struct stack *stack) {
    struct thread *thread = &worker->threads[1 + worker->started++];
    thread->stack = stack;
    return thread;
}

/* Likewise, to be switched to. */
static struct thread *begin_next_idle(struct worker *worker) {
    struct stack *stack = stack_take(worker);
    struct thread *thread = begin_next(worker, stack);
    thread->turn.context = stack->idle;
    open_to_all(worker, thread);
    return thread;
}

static void ring_join(struct thread *before, struct thread *thread, struct thread *after) {
    thread->link[BACKWARD] = before;
    thread->link[FORWARD] = after;
    before->link[FORWARD] = thread;
    after->link[BACKWARD] = thread;
}

/* The first thread that may run, from `start` around the ring; null if none may. */
static struct thread *find_next(const struct worker *worker, struct thread *start) {
    struct thread *next = start;
    do {
        if (may_run(next)) return next;
        next = next->link[worker->direction];
    } while (next != start);
    return NULL;
}

/* Nobody may run and somebody waits: nothing will ever change. `waiting` says where. */
static struct thread *find_next_or_deadlock(const struct worker *worker, struct thread *waiting) {
    struct thread *next = find_next(worker, waiting);
    if (next) return next;
    fault_raise_at(cudaErrorLaunchTimeout,
                   "the threads of the block wait for each other for ever, this one here",
                   waiting->turn.index, fiber_return_address(&waiting->turn.context),
                   worker->waits_at[waiting->turn.linear]);
}

/* The running thread waits (its gate is set) or yields: somebody else's turn. */
static void hand_over(struct worker *worker, struct thread *self) {
    struct thread *next;
    if (worker->started < worker->launch->block_threads) {
        next = begin_next_idle(worker);
        ring_join(self, next, self->link[FORWARD]);
    } else {
        next = find_next_or_deadlock(worker, self->link[worker->direction]);
    }
    if (next == self) return;
    make_current(next);
    switch_stacks(&self->turn.context, &next->turn.context, next->stack);
}

void emulator_spin(void) {
    struct worker *worker = this_worker;
    if (!in_kernel()) return;
    open_to_all(worker, running());
    hand_over(worker, running());
    worker->yielding = true;
    sched_yield(); /* it may be another block's turn */
    worker->yielding = false;
}

bool worker_is_yielding(void) { return this_worker && this_worker->yielding; }

/* --- barriers --------------------------------------------------------------------------------- */

static void open_barrier(struct worker *worker) {
    struct emulator_schedule *schedule = &emulator_schedule;
    if (observer) observer->barrier_opens();
    worker->votes[schedule->barrier & 1] = (struct emulator_votes){schedule->arrived, worker->yes};
    worker->work += schedule->arrived;
    schedule->barrier++;
    schedule->arrived = 0;
    worker->yes = 0;
    set_direction(worker, !worker->direction);
}

static void must_be_in_kernel(const char *what) {
    if (__builtin_expect(in_kernel(), 1)) return;
    fprintf(stderr, "%s was called by host code; only a kernel may call it\n", what);
    exit(1);
}

/* The running thread has reached a barrier. True if it was the last one, and goes on. */
static inline bool arrive(struct worker *worker, struct thread *self) {
    if (++emulator_schedule.arrived == worker->live) {
        open_barrier(worker);
        return true;
    }
    wait_at_barrier(self);
    return false;
}

/* What ../include/barrier.h leaves to the runtime, and every barrier of an instrumented kernel.
 * Where the neighbour in the ring may run, which is the rule, the switch is this function's last
 * act: nothing of ours stays on the thread's stack, whose cache lines are what a switch costs.
 * Those of the neighbour's neighbour are fetched meanwhile (measured: a third faster). */
void emulator_barrier(void) {
    struct worker *worker = this_worker;
    must_be_in_kernel("__syncthreads()");
    struct thread *self = running();
    if (observer) observer->barrier_reached(__builtin_return_address(0));
    if (arrive(worker, self)) return;
    struct thread *next = self->link[worker->direction];
    if (worker->started == worker->launch->block_threads && may_run(next)) {
        __builtin_prefetch(next->link[worker->direction]->turn.context.stack);
        make_current(next);
        switch_stacks(&self->turn.context, &next->turn.context, next->stack);
        return;
    }
    worker->waits_at[self->turn.linear] = __builtin_return_address(0);
    hand_over(worker, self);
}

struct emulator_votes emulator_barrier_vote(int predicate) {
    struct worker *worker = this_worker;
    must_be_in_kernel("__syncthreads_count(), _and() or _or()");
    struct thread *self = running();
    uint64_t barrier = emulator_schedule.barrier;
    worker->yes += predicate != 0;
    if (observer) observer->barrier_reached(__builtin_return_address(0));
    if (!arrive(worker, self)) {
        worker->waits_at[self->turn.linear] = __builtin_return_address(0);
        hand_over(worker, self);
    }
    return worker->votes[barrier & 1];
}

struct copies *worker_copies(void) {
    struct worker *worker = this_worker;
    must_be_in_kernel("an asynchronous copy");
    if (!worker->copies) worker->copies = copies_create();
    return worker->copies;
}

/* --- warp operations -------------------------------------------------------------------------- */

/* The group that collects for this mask or place, or a free one. */
static struct warp_group *find_group(struct worker *worker, unsigned warp, unsigned mask,
                                     unsigned place) {
    struct warp *w = &worker->warps[warp];
    struct warp_group *groups = worker->groups[warp];
    for (unsigned left = w->collecting; left; left &= left - 1) {
        struct warp_group *group = &groups[__builtin_ctz(left)];
        if (group->mask == mask && group->place == place) return group;
    }
    unsigned free_one = (unsigned)__builtin_ctz(~(w->collecting | w->unread));
    w->collecting |= 1u << free_one;
    groups[free_one].mask = mask;
    groups[free_one].place = place;
    return &groups[free_one];
}

static void open_group(struct worker *worker, unsigned warp, struct warp_group *group) {
    struct warp *w = &worker->warps[warp];
    unsigned bit = 1u << (group - worker->groups[warp]);
    group->values.lanes = group->unread = group->arrived;
    if (observer && !group->place) observer->warp_met(warp, group->arrived);
    group->arrived = 0;
    group->generation++;
    w->collecting &= ~bit;
    w->unread |= bit;
}

/* A warp operation is complete when every lane of its mask has arrived or returned; one without a
 * mask, when every lane of the warp has. */
static void open_group_if_complete(struct worker *worker, unsigned warp, struct warp_group *group) {
    unsigned mask = group->place ? ~0u : group->mask;
    if (!(mask & worker->warps[warp].live & ~group->arrived)) open_group(worker, warp, group);
}

static void leave_group(struct worker *worker, unsigned warp, struct warp_group *group,
                        unsigned lane) {
    group->unread &= ~(1u << lane);
    if (!group->unread) worker->warps[warp].unread &= ~(1u << (group - worker->groups[warp]));
}

/* The values stay where they are until the running thread waits again. */
const struct emulator_warp_values *emulator_warp_exchange(unsigned mask, uint64_t value) {
    struct worker *worker = this_worker;
    must_be_in_kernel("a warp operation");
    struct thread *self = running();
    unsigned warp = self->turn.linear / WARP_SIZE, lane = self->turn.linear % WARP_SIZE;
    mask |= 1u << lane; /* CUDA leaves undefined what a lane outside its own mask gets */
    struct warp_group *group = find_group(worker, warp, mask, 0);
    uint64_t generation = group->generation;

    group->values.value[lane] = value;
    group->arrived |= 1u << lane;
    open_group_if_complete(worker, warp, group);
    if (group->generation == generation) {
        wait_at(self, &group->generation);
        worker->waits_at[self->turn.linear] = __builtin_return_address(0);
        hand_over(worker, self);
    }
    leave_group(worker, warp, group, lane);
    return &group->values;
}

/* The lanes that are at this __activemask() together: those that come to it before they wait for
 * something else. The first to arrive gives all others their turns until nobody comes any more;
 * meanwhile no barrier can open, so that a turn around the ring is one for each. */
unsigned emulator_warp_active(unsigned place) {
    struct worker *worker = this_worker;
    must_be_in_kernel("__activemask()");
    struct thread *self = running();
    unsigned warp = self->turn.linear / WARP_SIZE, lane = self->turn.linear % WARP_SIZE;
    struct warp_group *group = find_group(worker, warp, 0, place + 1);
    uint64_t generation = group->generation;
    bool first = !group->arrived;

    group->arrived |= 1u << lane;
    open_group_if_complete(worker, warp, group);
    while (group->generation == generation) {
        unsigned arrived = group->arrived;
        if (first)
            open_to_all(worker, self);
        else
            wait_at(self, &group->generation);
        worker->waits_at[self->turn.linear] = __builtin_return_address(0);
        hand_over(worker, self);
        if (group->generation == generation && group->arrived == arrived)
            open_group(worker, warp, group);
    }
    unsigned lanes = group->values.lanes;
    leave_group(worker, warp, group, lane);
    return lanes;
}

/* --- a thread's end, a block's beginning -------------------------------------------------------
 */

/* Nobody waits any longer for a thread that has returned. */
static void stop_waiting_for(struct worker *worker, const struct thread *self) {
    unsigned warp = self->turn.linear / WARP_SIZE;
    worker->live--;
    worker->warps[warp].live &= ~(1u << self->turn.linear % WARP_SIZE);
    if (worker->live && emulator_schedule.arrived == worker->live) open_barrier(worker);
    for (unsigned left = worker->warps[warp].collecting; left; left &= left - 1)
        open_group_if_complete(worker, warp, &worker->groups[warp][__builtin_ctz(left)]);
}

/* The running thread has returned. Its fiber goes on as the next thread that has not begun, so a
 * kernel without barriers needs one stack and no switch; or it lies idle until there is one.
 * Returns the thread that it is then. */
static struct thread *retire(struct worker *worker, struct thread *self) {
    self->turn.barrier = EMULATOR_NO_BARRIER;
    if (worker->copies) copies_thread_returns(worker->copies);
    if (observer) observer->thread_returned(self->turn.linear);
    stop_waiting_for(worker, self);
    if (worker->started < worker->launch->block_threads) {
        bool alone = self->link[FORWARD] == self;
        struct thread *next = begin_next(worker, self->stack);
        ring_join(alone ? next : self->link[BACKWARD], next, alone ? next : self->link[FORWARD]);
        make_current(next);
        return next;
    }
    worker->idle[worker->idle_count++] = self->stack;
    if (!worker->live) {
        emulator_schedule.current = &nobody;
        switch_stacks(&self->stack->idle, &worker->scheduler, NULL);
        return running();
    }
    self->link[FORWARD]->link[BACKWARD] = self->link[BACKWARD];
    self->link[BACKWARD]->link[FORWARD] = self->link[FORWARD];
    struct thread *next = find_next_or_deadlock(worker, self->link[worker->direction]);
    make_current(next);
    switch_stacks(&self->stack->idle, &next->turn.context, next->stack);
    return running();
}

static void thread_main(void) {
#ifdef WITH_ASAN
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    struct worker *worker = this_worker;
    struct thread *self = running();
    for (;;) {
        worker->launch->thread(worker->launch->data);
        self = retire(worker, self);
    }
}

static void block_begin(struct worker *worker, const struct launch *launch, uint64_t index) {
    blockIdx.x = (unsigned)(index % launch->grid.x);
    blockIdx.y = (unsigned)(index / launch->grid.x % launch->grid.y);
    blockIdx.z = (unsigned)(index / launch->grid.x / launch->grid.y);
    worker->launch = launch;
    set_direction(worker, FORWARD);
    worker->live = launch->block_threads;
    worker->started = emulator_schedule.arrived = worker->yes = 0;
    place_threads(worker, &launch->block);
    worker->work = launch->block_threads;
    for (unsigned warp = 0; warp < MAX_WARPS; ++warp) {
        unsigned before = warp * WARP_SIZE, threads = launch->block_threads;
        unsigned lanes = threads <= before ? 0 : threads - before;
        worker->warps[warp].live = lanes >= WARP_SIZE ? ~0u : (1u << lanes) - 1;
    }
    poison_shared(worker);
    if (observer) observer->block_begins(launch, index);
}

uint64_t worker_run_block(const struct launch *launch, uint64_t index) {
    struct worker *worker = this_worker;
    block_begin(worker, launch, index);
    struct thread *first = begin_next_idle(worker);
    ring_join(first, first, first);
    make_current(first);
    switch_stacks(&worker->scheduler, &first->turn.context, first->stack);
    if (observer) observer->block_ended();
    return worker->work;
}

bool worker_where(struct uint3 *block, struct uint3 *thread) {
    if (!in_kernel()) return false;
    *block = blockIdx;
    *thread = running()->turn.index;
    return true;
}
