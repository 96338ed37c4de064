/* The threads of one block on one core: which one runs next, barriers, warp operations.
 *
 * A thread runs until it waits. The threads that have begun and not returned form a ring; the one
 * that waits hands over to its neighbor. At each barrier the direction around the ring turns, so
 * that the threads that ran last, whose stacks are still in the cache, run first.
 *
 * A thread waits at a gate: a counter that another thread will raise. It may run when the counter
 * is no longer what it was on arrival, so opening a gate costs one addition, however many threads
 * wait. As on the hardware since Volta, a barrier counts arrivals, wherever in the code they are
 * made, and a thread that has returned is no longer waited for. But lanes of one warp at two
 * barriers are a fault: such a kernel hung on an H200, as lanes that skip a branch wait at its end
 * for those inside. */
#define _GNU_SOURCE
#include "../../report/element_type.h"
#include "runtime.h"
#include <assert.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <setjmp.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#ifdef EMULATOR_SANITIZED
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum {
    /* How much the tops of neighboring stacks differ within their pages: an odd number of cache
     * lines, so that they spread over all sets of the L1 cache; and more than a kernel's frame. */
    STACK_STAGGER = 5 * 64,
    ALIGNMENT_OF_ARGUMENTS = 64, /* as much as a vector of any CPU asks for */
    MAX_WARPS = MAX_BLOCK_THREADS / WARP_SIZE,
    FORWARD = 0,
    BACKWARD = 1
};

struct stack {
    fiber idle; /* where a finished thread's fiber waits for another thread */
    char *bottom;
    size_t bytes;
};

/* A thread waits while turn.barrier is the number of the coming barrier; if that is
 * EMULATOR_NO_BARRIER, while *gate == ticket. */
struct thread {
    struct emulator_thread turn; /* first: what ../include/barrier.h knows of it */
    struct thread *link[2];      /* ring neighbors: FORWARD and BACKWARD */
    const uint64_t *gate;
    uint64_t ticket;
    struct stack *stack;
    const void *waits_at; /* code, for the message */
    jmp_buf end;          /* where thread_main() goes on when the thread is ended */
};

/* One operation of the lanes of a warp that name each other in one mask: collecting until all have
 * arrived, then kept until all have read it. A warp has as many as lanes, because its lanes may go
 * separate ways, and each has arrived at one operation, or has yet to read one, at most. */
struct warp_group {
    uint64_t generation; /* the gate */
    unsigned mask, arrived, unread;
    unsigned place; /* of an __activemask(), which has no mask; 0 for all others */
    struct emulator_warp_values values;
};

/* One warp of the running block. The last two say by their bits what its groups are doing. */
struct warp {
    unsigned live;       /* lanes that have not returned */
    unsigned collecting; /* groups that some lane has arrived at */
    unsigned unread;     /* groups that some lane has yet to read */
};

/* A worker with the block that it runs. */
struct block {
    struct worker worker; /* first: this_worker points to it */
    const struct launch *launch;
    unsigned direction;
    unsigned live, started;
    struct uint3 placed;            /* the size of the block that the threads have places in */
    uint64_t work;                  /* of this block so far: see worker_run_block */
    unsigned yes;                   /* votes of this barrier so far */
    struct emulator_votes votes[2]; /* of the last two barriers, by number */
    uint64_t never;                 /* a gate that is always open: no ticket equals its counter */
    fiber scheduler;
    struct warp warps[MAX_WARPS];
    unsigned idle_count, stack_count;
    struct stack *idle[MAX_BLOCK_THREADS]; /* last in, first out: the warm one again */
    struct stack stacks[MAX_BLOCK_THREADS];
    struct thread threads[1 + MAX_BLOCK_THREADS + 1]; /* the first and the last never run */
    const void *last_barrier; /* the code of one that opened the last barrier */
    char divergence[160];     /* of a fault, behind its words */
    struct warp_group groups[MAX_WARPS][WARP_SIZE];
};

static struct block *this_block(void) { return (struct block *)this_worker; }
static struct thread *running(void) { return (struct thread *)emulator_schedule.current; }

/* --- stacks ----------------------------------------------------------------------------------- */

struct worker *worker_create(void) {
    const size_t bytes = (size_t)MAX_BLOCK_THREADS * STACK_BYTES;
    struct block *block = aligned_alloc(64, (sizeof *block + 63) / 64 * 64);
    if (!block) return NULL;
    memset(block, 0, sizeof *block);
    for (unsigned i = 0; i < sizeof block->threads / sizeof *block->threads; ++i)
        block->threads[i].turn.barrier = EMULATOR_NO_BARRIER;
    char *stacks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) {
        free(block);
        return NULL;
    }
    block->worker.memory.exchanged =
        (struct range){(char *)block->groups, (char *)block->groups + sizeof block->groups};
    block->worker.memory.stacks = (struct range){stacks, stacks + bytes};
    return &block->worker;
}

static void thread_main(void);

/* Makes a guard page in a third of the time of mprotect(), which splits a mapping (Linux 6.13, and
 * C libraries have no name for it yet). An emulator of a CPU may accept the advice and do nothing,
 * so the first page is tested. */
static bool guard(char *page, size_t bytes) {
    enum { GUARD_INSTALL = 102 };
    enum { UNKNOWN, WORKS, DOES_NOTHING };
    static int found = UNKNOWN;
    if (madvise(page, bytes, GUARD_INSTALL) != 0) return false;
    int is = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (is == UNKNOWN) {
        const bool stopped =
            syscall(SYS_clock_gettime, CLOCK_MONOTONIC, page) != 0 && errno == EFAULT;
        is = stopped ? WORKS : DOES_NOTHING;
        __atomic_store_n(&found, is, __ATOMIC_RELAXED);
    }
    return is == WORKS;
}

/* An idle stack, or the next one, with a guard page below it: a thread whose local arrays do not
 * fit is stopped before it writes to its neighbor's. (Where the system's limit on the number of
 * mappings is reached, the page stays open; that costs the check, nothing else.) */
static struct stack *stack_take(struct block *block) {
    if (block->idle_count) return block->idle[--block->idle_count];
    const unsigned slot = block->stack_count++;
    struct stack *stack = &block->stacks[slot];
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *low = block->worker.memory.stacks.begin + (size_t)slot * STACK_BYTES;
    if (!guard(low, page)) (void)mprotect(low, page, PROT_NONE);
    stack->bottom = low + page;
    stack->bytes = STACK_BYTES - page - slot * STACK_STAGGER % page;
    fiber_create(&stack->idle, stack->bottom, stack->bytes, thread_main);
    return stack;
}

/* --- shared memory ---------------------------------------------------------------------------- */

/* In words, which is what a wchar_t is. */
static void poison_words(char *begin, const char *end) {
    static_assert(sizeof(wchar_t) == sizeof(uint32_t), "wmemset sets words");
    wmemset((wchar_t *)(void *)begin, (wchar_t)POISON_SHARED,
            (size_t)(end - begin) / sizeof(wchar_t));
}

static void poison_shared(struct block *block) {
    const struct worker_memory *memory = &block->worker.memory;
    for (int i = 0; i < memory->shared_ranges; ++i)
        poison_words(memory->shared[i].begin, memory->shared[i].end);
    poison_words(emulator_dynamic_shared, emulator_dynamic_shared + block->launch->shared_bytes);
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
#ifdef EMULATOR_BARRIER
    thread->turn.barrier = emulator_schedule.barrier;
#else /* no kernel may switch to this thread by itself */
    wait_at(thread, &emulator_schedule.barrier);
#endif
}

static void open_to_all(struct block *block, struct thread *thread) {
    wait_at(thread, &block->never);
    thread->ticket = 1; /* never is 0 */
}

static void switch_stacks(fiber *save, const fiber *to, const struct stack *stack) {
#ifdef EMULATOR_SANITIZED
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

static void set_direction(struct block *block, unsigned direction) {
    const ptrdiff_t bytes = sizeof(struct thread);
    block->direction = direction;
    emulator_schedule.step = direction == FORWARD ? bytes : -bytes;
}

/* The threads' places in a block of this size: the same in all blocks of a launch. */
static void place_threads(struct block *block, const struct uint3 *size) {
    struct uint3 index = {0, 0, 0};
    if (memcmp(&block->placed, size, sizeof *size) == 0) return;
    block->placed = *size;
    for (unsigned linear = 0; linear < size->x * size->y * size->z; ++linear) {
        struct emulator_thread *thread = &block->threads[1 + linear].turn;
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
static struct thread *begin_next(struct block *block, struct stack *stack) {
    struct thread *thread = &block->threads[1 + block->started++];
    thread->stack = stack;
    return thread;
}

/* Likewise, to be switched to. */
static struct thread *begin_next_idle(struct block *block) {
    struct thread *thread = begin_next(block, stack_take(block));
    thread->turn.context = thread->stack->idle;
    open_to_all(block, thread);
    return thread;
}

static void ring_join(struct thread *before, struct thread *thread, struct thread *after) {
    thread->link[BACKWARD] = before;
    thread->link[FORWARD] = after;
    before->link[FORWARD] = thread;
    after->link[BACKWARD] = thread;
}

/* The first thread that may run, from `start` around the ring. If none may and one waits, nothing
 * will ever change; `start` says where. */
static struct thread *find_next(const struct block *block, struct thread *start) {
    struct thread *next = start;
    do {
        if (may_run(next)) return next;
        next = next->link[block->direction];
    } while (next != start);
    fault_raise_at(cudaErrorLaunchTimeout, FAULT_DEADLOCK, "", start->turn.index,
                   fiber_return_address(&start->turn.context), start->waits_at);
}

/* The running thread waits (its gate is set) or yields: another thread's turn. */
static void hand_over(struct block *block, struct thread *self) {
    struct thread *next;
    if (block->started < block->launch->block_threads) {
        next = begin_next_idle(block);
        ring_join(self, next, self->link[FORWARD]);
    } else {
        next = find_next(block, self->link[block->direction]);
    }
    if (next == self) return;
    make_current(next);
    switch_stacks(&self->turn.context, &next->turn.context, next->stack);
}

void emulator_spin(void) {
    struct block *block = this_block();
    if (!worker_in_kernel()) return;
    open_to_all(block, running());
    hand_over(block, running());
    if (block->launch->alone) return; /* no other block runs */
    block->worker.yielding = true;
    sched_yield(); /* it may be another block's turn */
    block->worker.yielding = false;
}

unsigned long long emulator_uses_old(void) {
    if (observer) observer->uses_old();
    return 0;
}

/* --- barriers --------------------------------------------------------------------------------- */

static unsigned arrivals(void) { return (unsigned)(emulator_schedule.arrived & EMULATOR_ARRIVALS); }

static void open_barrier(struct block *block) {
    struct emulator_schedule *schedule = &emulator_schedule;
    if (observer) observer->barrier_opens();
    block->votes[schedule->barrier & 1] = (struct emulator_votes){arrivals(), block->yes};
    block->work += arrivals();
    schedule->barrier++;
    schedule->arrived = 0;
    block->yes = 0;
    set_direction(block, !block->direction);
}

/* Where a thread is at a barrier: behind the call, or the switch that is compiled into the
 * kernel. */
static const void *barrier_of(const struct thread *thread) {
    const void *code = thread->turn.context.code;
    const bool called = thread == running() || fiber_is_switching(code);
    return called ? thread->waits_at : code;
}

/* Whether two threads wait at different barriers of the text: not at one that the compiler has made
 * two of, which has one number, as has one in a function that is called at several places. */
static bool wait_apart(const struct thread *a, const struct thread *b) {
    if (a->turn.place != b->turn.place) return true;
    if (barrier_of(a) == barrier_of(b)) return false;
    const struct place first = place_before(barrier_of(a)), second = place_before(barrier_of(b));
    return first.line && second.line && !place_same_line(&first, &second);
}

/* Of two barriers the one that is to blame: the one that threads pass by. Where threads have left
 * the one for the other before, they pass by the one that they have not been at; else it is the one
 * that comes first in the text. */
static bool is_passed_by(const struct block *block, const void *barrier, const void *other) {
    const struct place place = place_before(barrier), elsewhere = place_before(other);
    const struct place last =
        block->last_barrier ? place_before(block->last_barrier) : (struct place){.line = 0};
    if (place_same_line(&last, &place)) return false;
    return place_same_line(&last, &elsewhere) || place.line < elsewhere.line;
}

/* Stops the launch on account of two lanes of a warp. */
static _Noreturn void refuse_divergence(struct block *block, const struct thread *thread,
                                        const struct thread *other) {
    if (!is_passed_by(block, barrier_of(thread), barrier_of(other))) {
        const struct thread *first = thread;
        thread = other;
        other = first;
    }
    const struct uint3 *index = &other->turn.index;
    const struct place here = place_before(barrier_of(thread)),
                       there = place_before(barrier_of(other));
    char where[32] = "another one in this line";
    if (!place_same_line(&here, &there))
        snprintf(where, sizeof where, "the one in line %d", there.line);
    snprintf(block->divergence, sizeof block->divergence,
             ";\n    thread (%u,%u,%u), of the same warp, waits at %s", index->x, index->y,
             index->z, where);
    fault_raise_at(cudaErrorLaunchFailure, FAULT_DIVERGENCE, block->divergence, thread->turn.index,
                   barrier_of(thread), NULL);
}

/* A barrier is about to open to threads that have come to different ones. Whole warps may do that,
 * on a GPU too, where it is a barrier that counts, not a place; lanes of one warp may not. */
static void check_divergence(struct block *block) {
    const unsigned threads = block->launch->block_threads;
    for (unsigned first = 0; first < threads; first += WARP_SIZE) {
        const struct thread *one = NULL;
        for (unsigned left = block->warps[first / WARP_SIZE].live; left; left &= left - 1) {
            const struct thread *next = &block->threads[1 + first + __builtin_ctz(left)];
            if (!one)
                one = next;
            else if (wait_apart(one, next))
                refuse_divergence(block, one, next);
        }
    }
}

/* Not worker_in_kernel(): a call at each barrier would cost time. */
static inline void must_be_in_kernel(const char *what) {
    if (__builtin_expect(emulator_schedule.current == &worker_no_thread, 0)) worker_refuse(what);
}

/* The running thread has reached the barrier at this place, in front of `code`. True if it was the
 * last one, and goes on. In an instrumented kernel the observer sees who waits where. */
static inline bool arrive(struct block *block, struct thread *self, unsigned place,
                          const void *code) {
    self->waits_at = code;
    self->turn.place = place;
    const uint64_t arrival = EMULATOR_ARRIVAL(place);
    emulator_schedule.arrived += arrival;
    if (arrivals() == block->live) {
        if (emulator_schedule.arrived != block->live * arrival && !observer)
            check_divergence(block);
        open_barrier(block);
        block->last_barrier = code;
        return true;
    }
    wait_at_barrier(self);
    return false;
}

/* What ../include/barrier.h leaves to the runtime, and every barrier of an instrumented kernel.
 * Where the neighbor in the ring may run, which is the rule, the switch is this function's last
 * act: nothing of ours stays on the thread's stack, whose cache lines are what a switch costs.
 * Those of the neighbor's neighbor are fetched meanwhile (measured: a third faster). */
void emulator_barrier(unsigned place) {
    struct block *block = this_block();
    must_be_in_kernel("__syncthreads()");
    struct thread *self = running();
    if (observer) observer->barrier_reached(__builtin_return_address(0), place);
    if (arrive(block, self, place, __builtin_return_address(0))) return;
    struct thread *next = self->link[block->direction];
    if (block->started == block->launch->block_threads && may_run(next)) {
        __builtin_prefetch(next->link[block->direction]->turn.context.stack);
        make_current(next);
        switch_stacks(&self->turn.context, &next->turn.context, next->stack);
        return;
    }
    hand_over(block, self);
}

struct emulator_votes emulator_barrier_vote(int predicate, unsigned place) {
    struct block *block = this_block();
    must_be_in_kernel("__syncthreads_count(), _and() or _or()");
    struct thread *self = running();
    uint64_t barrier = emulator_schedule.barrier;
    block->yes += predicate != 0;
    if (observer) observer->barrier_reached(__builtin_return_address(0), place);
    if (!arrive(block, self, place, __builtin_return_address(0))) hand_over(block, self);
    return block->votes[barrier & 1];
}

/* --- warp operations -------------------------------------------------------------------------- */

/* The group that collects for this mask or place, or a free one. */
static struct warp_group *find_group(struct block *block, unsigned warp, unsigned mask,
                                     unsigned place) {
    struct warp *w = &block->warps[warp];
    struct warp_group *groups = block->groups[warp];
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

static void open_group(struct block *block, unsigned warp, struct warp_group *group) {
    struct warp *w = &block->warps[warp];
    unsigned bit = 1u << (group - block->groups[warp]);
    group->values.lanes = group->unread = group->arrived;
    if (observer && !group->place) observer->warp_met(warp, group->mask);
    group->arrived = 0;
    group->generation++;
    w->collecting &= ~bit;
    w->unread |= bit;
}

/* A warp operation is complete when every lane of its mask has arrived or returned; one without a
 * mask, when every lane of the warp has. */
static void open_group_if_complete(struct block *block, unsigned warp, struct warp_group *group) {
    unsigned mask = group->place ? ~0u : group->mask;
    if (!(mask & block->warps[warp].live & ~group->arrived)) open_group(block, warp, group);
}

static void leave_group(struct block *block, unsigned warp, struct warp_group *group,
                        unsigned lane) {
    group->unread &= ~(1u << lane);
    if (!group->unread) block->warps[warp].unread &= ~(1u << (group - block->groups[warp]));
}

unsigned worker_lane_of(const void *value) {
    const size_t offset = (size_t)((const char *)value - (const char *)this_block()->groups);
    const size_t first = offsetof(struct warp_group, values.value);
    const size_t lane = (offset % sizeof(struct warp_group) - first) / sizeof(uint64_t);
    return lane < WARP_SIZE ? (unsigned)lane : WARP_SIZE;
}

/* The values stay where they are until the running thread waits again. */
const struct emulator_warp_values *emulator_warp_exchange(unsigned mask, uint64_t value) {
    struct block *block = this_block();
    must_be_in_kernel("a warp operation");
    struct thread *self = running();
    unsigned warp = self->turn.linear / WARP_SIZE, lane = self->turn.linear % WARP_SIZE;
    mask |= 1u << lane; /* CUDA leaves undefined what a lane outside its own mask gets */
    struct warp_group *group = find_group(block, warp, mask, 0);
    uint64_t generation = group->generation;

    group->values.value[lane] = value;
    if (observer && block->warps[warp].live & ~mask && !group->arrived) observer->warp_parts();
    group->arrived |= 1u << lane;
    open_group_if_complete(block, warp, group);
    if (group->generation == generation) {
        wait_at(self, &group->generation);
        self->waits_at = __builtin_return_address(0);
        hand_over(block, self);
    }
    leave_group(block, warp, group, lane);
    return &group->values;
}

/* The lanes that are at this __activemask() together: those that come to it before they wait for
 * something else. The first to arrive gives all others their turns until no more arrive;
 * meanwhile no barrier can open, so that a turn around the ring is one for each. */
unsigned emulator_warp_active(unsigned place) {
    struct block *block = this_block();
    must_be_in_kernel("__activemask()");
    struct thread *self = running();
    unsigned warp = self->turn.linear / WARP_SIZE, lane = self->turn.linear % WARP_SIZE;
    struct warp_group *group = find_group(block, warp, 0, place + 1);
    uint64_t generation = group->generation;
    bool first = !group->arrived;

    group->arrived |= 1u << lane;
    open_group_if_complete(block, warp, group);
    while (group->generation == generation) {
        unsigned arrived = group->arrived;
        if (first)
            open_to_all(block, self);
        else
            wait_at(self, &group->generation);
        self->waits_at = __builtin_return_address(0);
        hand_over(block, self);
        if (group->arrived == arrived) /* as long as the group is closed, this lane is among them */
            open_group(block, warp, group);
    }
    unsigned lanes = group->values.lanes;
    leave_group(block, warp, group, lane);
    return lanes;
}

/* --- how a thread ends and a block begins ----------------------------------------------------- */

/* The others no longer wait for a thread that has returned. */
static void stop_waiting_for(struct block *block, const struct thread *self) {
    unsigned warp = self->turn.linear / WARP_SIZE;
    block->live--;
    block->warps[warp].live &= ~(1u << self->turn.linear % WARP_SIZE);
    if (block->live && arrivals() == block->live) {
        if (!observer) check_divergence(block);
        open_barrier(block);
    }
    for (unsigned left = block->warps[warp].collecting; left; left &= left - 1)
        open_group_if_complete(block, warp, &block->groups[warp][__builtin_ctz(left)]);
}

/* The running thread has returned. Its fiber goes on as the next thread that has not begun, so a
 * kernel without barriers needs one stack and no switch; or it lies idle until there is one.
 * Returns the thread that it is then. */
static struct thread *retire(struct block *block, struct thread *self) {
    self->turn.barrier = EMULATOR_NO_BARRIER;
    if (block->worker.copies) copies_thread_returns(block->worker.copies);
    if (observer) observer->thread_returned(self->turn.linear);
    stop_waiting_for(block, self);
    if (block->started < block->launch->block_threads) {
        bool alone = self->link[FORWARD] == self;
        struct thread *next = begin_next(block, self->stack);
        ring_join(alone ? next : self->link[BACKWARD], next, alone ? next : self->link[FORWARD]);
        make_current(next);
        return next;
    }
    block->idle[block->idle_count++] = self->stack;
    if (!block->live) {
        emulator_schedule.current = &worker_no_thread;
        switch_stacks(&self->stack->idle, &block->scheduler, NULL);
        return running();
    }
    self->link[FORWARD]->link[BACKWARD] = self->link[BACKWARD];
    self->link[BACKWARD]->link[FORWARD] = self->link[FORWARD];
    struct thread *next = find_next(block, self->link[block->direction]);
    make_current(next);
    switch_stacks(&self->stack->idle, &next->turn.context, next->stack);
    return running();
}

#if defined __x86_64__
#define SAVED_BY_CALLEES "rbx", "r12", "r13", "r14", "r15"
#elif defined __aarch64__
#define SAVED_BY_CALLEES                                                                           \
    "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "d8", "d9", "d10",       \
        "d11", "d12", "d13", "d14", "d15"
#endif

/* The arguments lie in the thread's own stack, where it may read them, the host's being closed. A
 * kernel may store to all that its own functions save there: the caller's registers are saved here,
 * and none is used behind the call. Where the observer's thread_begins() has its frames, no kernel
 * has one: it overwrites what the last thread has left below them. */
static __attribute__((noinline)) void run_thread(const struct launch *launch) {
    enum { OF_OBSERVER = 512 };
    const size_t bytes = launch->data_bytes + OF_OBSERVER;
    char *copy = __builtin_alloca_with_align(bytes, 8 * ALIGNMENT_OF_ARGUMENTS);
    memcpy(copy, launch->data, launch->data_bytes);
    launch->thread(copy);
    __asm__ volatile("" : : : SAVED_BY_CALLEES);
}

void emulator_end_thread(void) { longjmp(running()->end, 1); }

static void thread_main(void) {
#ifdef EMULATOR_SANITIZED
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    for (;;) { /* variables would be lost where a thread is ended */
        if (observer) observer->thread_begins();
        if (!_setjmp(running()->end)) run_thread(this_block()->launch);
        retire(this_block(), running());
    }
}

static void block_begin(struct block *block, const struct launch *launch, uint64_t index) {
    blockIdx.x = (unsigned)(index % launch->grid.x);
    blockIdx.y = (unsigned)(index / launch->grid.x % launch->grid.y);
    blockIdx.z = (unsigned)(index / launch->grid.x / launch->grid.y);
    block->launch = launch;
    set_direction(block, FORWARD);
    block->live = launch->block_threads;
    block->started = block->yes = 0;
    emulator_schedule.arrived = 0;
    block->last_barrier = NULL;
    place_threads(block, &launch->block);
    block->work = launch->block_threads;
    for (unsigned warp = 0; warp < MAX_WARPS; ++warp) {
        unsigned before = warp * WARP_SIZE, threads = launch->block_threads;
        unsigned lanes = threads <= before ? 0 : threads - before;
        block->warps[warp].live = lanes >= WARP_SIZE ? ~0u : (1u << lanes) - 1;
    }
    poison_shared(block);
    if (observer) observer->block_begins(launch, index);
}

uint64_t worker_run_block(const struct launch *launch, uint64_t index) {
    struct block *block = this_block();
    block_begin(block, launch, index);
    struct thread *first = begin_next_idle(block);
    ring_join(first, first, first);
    make_current(first);
    switch_stacks(&block->scheduler, &first->turn.context, first->stack);
    if (observer) observer->block_ended();
    return block->work;
}
