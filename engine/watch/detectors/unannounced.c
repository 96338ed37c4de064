/* A second measurement of which loads and stores are watched, by the processor's memory protection.
 *
 * The compiler announces each access to the checker before it makes it (access.c). What it does not
 * announce, or what a library does, would not be seen. So device memory is closed for some time, a
 * window: each access faults, and must be explained by one that the same thread has announced and
 * not yet made. The page is then opened for that one instruction (the trap flag of x86-64).
 *
 * One block of each launch, drawn at random, is looked at from its first access on; windows in all
 * blocks whose accesses take the slow path begin at random. No kernel can know when: what has been
 * drawn is in hidden memory (runtime.h), and when the next window begins is in no memory at all,
 * but decided at that time. On other processors nothing is audited. */
#define _GNU_SOURCE
#include "../detector.h"
#include "../launches.h"
#include "../shadow/shadow.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

extern const struct detector detector_unannounced;

#ifdef __x86_64__

enum {
    BLOCKS = 4,          /* of a launch, on average, that are slow for the sake of windows */
    WINDOW = 60,         /* accesses in a window; each takes 5 to 50 us */
    WHOLE_LOADS = 30000, /* in the block that is looked at from its first access: more than one of a
                            kernel makes that shares its loads */
    WHOLE_STORES = 50000,
    UNCOUNTED = 2500, /* where loads are not counted, and there is little to hide: of either, ... */
    ONE_IN = 4,       /* ... and in one launch of so many */
    SPENT = 40000,    /* accesses, after which not each launch has such a block */
    CHANCE = 16,      /* a window may begin at one announcement in so many */
    FEW = 2000,       /* announcements from one window to the next, on average, at first; ... */
    PART = 8,         /* ... and later a part of all so far */
    ANNOUNCED = 8,    /* ranges that are remembered of a thread */
    OPEN = 4,         /* pages that one instruction may need */
    PAUSES = 10,      /* of a worker whose access meets another's window, ... */
    PAUSE_NS = 200000, /* ... each so long at most */
    WRITES = 2,        /* page fault error code, Intel SDM volume 3, 4.7 */
    TRAP_FLAG = 0x100
};

/* A range that a thread is going to access. Of one announcement a compiler makes up to an access a
 * byte, and perhaps one more. */
struct announced {
    uintptr_t begin;
    uint32_t bytes, used;
};

/* Asked of the handlers, who alone know what is hidden. */
enum audit_request { NONE, BLOCK_BEGINS, WINDOW_BEGINS, BLOCK_ENDS };

/* Of a worker, which runs one block at a time. */
struct audit {
    bool begun; /* a block, so far */
    enum audit_request asked;
    uint64_t key;       /* of its block, drawn */
    uint64_t announced; /* so far, in all of its blocks */
    const void *unseen; /* the first access that no announcement explains; null: none */
    uintptr_t unseen_address;
    uint8_t last[MAX_BLOCK_THREADS]; /* of the ranges */
    struct announced ranges[MAX_BLOCK_THREADS][ANNOUNCED];
};

/* Hidden; of all workers. */
struct shared {
    bool locked;
    unsigned windows; /* that are open now, each of another worker: memory is closed if there are */
    uint64_t random, launch, whole, spent;
};

/* Hidden, at the bottom of a worker's signal stack. */
struct own {
    struct shared *shared;
    bool has_window, is_whole; /* the window is that of the block that is looked at */
    unsigned loads, stores;    /* until it ends */
    unsigned spent;            /* on a whole block */
    unsigned opened;
    uintptr_t open[OPEN];
};
_Static_assert(sizeof(struct own) <= HANDLER_OWN, "it has no more room there");

static struct audit *audit_of(const struct watch *w) {
    return detector_state(&detector_unannounced, w);
}

static uint64_t launches;
static bool impossible; /* on this machine, or not wanted in this process */
/* A pipe that holds the address of what is shared: no memory does. */
static int passed_on[2] = {-1, -1};

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static uintptr_t page_of(uintptr_t address) { return address & ~(uintptr_t)(page_bytes() - 1); }

static void protect_all(int protection) {
    for (const struct region *r = region_first(); r; r = r->next) {
        const uintptr_t begin = page_of(r->allocated.begin);
        if (r->on_device && !r->freed && r->allocated.bytes)
            mprotect((void *)begin, r->allocated.begin + r->allocated.bytes - begin, protection);
    }
}

static void audit_launch_begins(const struct launch *launch) {
    (void)launch;
    launches++;
}

/* A worker that was stopped in its kernel has left it closed. */
static void audit_launch_ended(const struct launch *launch) {
    (void)launch;
    protect_all(PROT_READ | PROT_WRITE);
}

/* --- a block ---------------------------------------------------------------------------------- */

/* Has this worker's handler do something. */
static void ask(struct audit *audit, enum audit_request request) {
    audit->asked = request;
    __asm__ volatile("int3" : : : "memory");
}

/* Decides whether the block's accesses have to be announced: SLOW_AUDIT. */
static void audit_block_begins(struct watch *w) {
    struct audit *audit = audit_of(w);
    if (impossible) return;
    audit->begun = true;
    memset(audit->ranges, 0, w->launch->block_threads * sizeof *audit->ranges);
    /* Whose loads make points, which hiding some would add to. */
    if (w->slow & SLOW_GLOBAL_RECORDER) w->slow |= SLOW_AUDIT;
    audit->unseen = NULL;
    ask(audit, BLOCK_BEGINS);
}

static void audit_block_ended(struct watch *w) {
    struct audit *audit = audit_of(w);
    if (!audit->begun || !(w->slow & SLOW_AUDIT)) return;
    ask(audit, BLOCK_ENDS);
    w->slow &= ~SLOW_AUDIT;
    if (!audit->unseen) return;
    const struct access access = {
        .address = audit->unseen_address, .size = WORD, .code = (const char *)audit->unseen + 1};
    event_note_here(w, FINDING_UNSEEN, &access);
}

/* Few, but some in each part of a run. One that was drawn before would have to be kept somewhere.
 * The processor's clock is not known beforehand. */
static __attribute__((noinline)) void perhaps_begin_window(struct audit *audit) {
    const uint64_t part = audit->announced / PART, average = part > FEW ? part : FEW;
    const uint64_t number =
        (__builtin_ia32_rdtsc() ^ audit->key) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    if (number * average < (uint64_t)CHANCE << 32) ask(audit, WINDOW_BEGINS);
}

static void announced(struct watch *w, uintptr_t address, size_t size) {
    struct audit *audit = audit_of(w);
    const unsigned thread = running_index.linear;
    if (watch_is_shared(w, address)) return;
    audit->ranges[thread][++audit->last[thread] % ANNOUNCED] =
        (struct announced){address, size < UINT32_MAX ? (uint32_t)size : UINT32_MAX, 0};
    if (++audit->announced % CHANCE == 0) perhaps_begin_window(audit);
}

/* --- in handlers: windows --------------------------------------------------------------------- */

static void lock(struct shared *shared) {
    while (__atomic_test_and_set(&shared->locked, __ATOMIC_ACQUIRE)) sched_yield();
}

static void unlock(struct shared *shared) { __atomic_clear(&shared->locked, __ATOMIC_RELEASE); }

static bool is_closed(const struct shared *shared) {
    return __atomic_load_n(&shared->windows, __ATOMIC_SEQ_CST) != 0;
}

static void begin_window(struct own *own, unsigned loads, unsigned stores) {
    if (own->has_window) return;
    own->has_window = true;
    own->loads = loads;
    own->stores = stores;
    lock(own->shared);
    if (!own->shared->windows++) protect_all(PROT_NONE);
    unlock(own->shared);
}

static void end_window(struct own *own) {
    if (!own->has_window) return;
    lock(own->shared);
    own->shared->spent += own->spent;
    if (!--own->shared->windows) protect_all(PROT_READ | PROT_WRITE);
    unlock(own->shared);
    own->has_window = own->is_whole = false;
    own->spent = 0;
}

/* xorshift64* (Vigna), begun with the system's random numbers. */
static uint64_t draw(struct shared *shared) {
    uint64_t x = shared->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    shared->random = x;
    return x * 0x2545F4914F6CDD1Du >> 16;
}

/* Which block of a launch is looked at, if any: a wrapper may launch thousands of kernels. */
static void begin_launch(struct shared *shared, const struct watch *w) {
    const uint64_t times = shared->spent / SPENT, blocks = surplus_count(w->launch);
    const uint64_t one_in = (1 + times * times) * (watch_is_recorded(w) ? 1 : ONE_IN);
    shared->launch = launches;
    shared->windows = 0;
    shared->whole = draw(shared) % one_in ? w->launch->blocks /* none */
                                          : surplus_block(w->launch, draw(shared) % blocks);
}

static void begin_block(struct watch *w, struct own *own) {
    struct shared *shared = own->shared;
    lock(shared);
    if (shared->launch != launches) begin_launch(shared, w);
    audit_of(w)->key = draw(shared);
    *own = (struct own){.shared = shared, .is_whole = shared->whole == w->epochs.block};
    unlock(shared);
    const bool drawn = audit_of(w)->key % surplus_count(w->launch) < BLOCKS;
    if (own->is_whole || drawn) w->slow |= SLOW_AUDIT;
    if (!own->is_whole && drawn && audit_of(w)->key >> 40 & 1) begin_window(own, WINDOW, WINDOW);
    if (own->is_whole && watch_is_recorded(w)) begin_window(own, WHOLE_LOADS, WHOLE_STORES);
    if (own->is_whole) begin_window(own, UNCOUNTED, UNCOUNTED); /* unless it has one */
}

/* Whatever it can do: the worker goes on. */
static void serve(struct watch *w, struct own *own) {
    struct audit *audit = audit_of(w);
    const enum audit_request asked = audit->asked;
    audit->asked = NONE;
    if (!own) return;
    switch (asked) {
    case NONE: break;
    case BLOCK_BEGINS: begin_block(w, own); break;
    case WINDOW_BEGINS: begin_window(own, WINDOW, WINDOW); break;
    case BLOCK_ENDS: end_window(own); break;
    }
}

/* --- in handlers: faults ---------------------------------------------------------------------- */

static bool was_announced(struct audit *audit, uintptr_t address) {
    struct announced *all = audit->ranges[running_index.linear];
    for (int i = 0; i < ANNOUNCED; ++i)
        if (address - all[i].begin < all[i].bytes && all[i].used <= all[i].bytes) {
            all[i].used++;
            return true;
        }
    return false;
}

/* The instruction is over that was let through. */
static void close_again(struct own *own, ucontext_t *context) {
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    for (; own->opened; --own->opened)
        if (is_closed(own->shared))
            mprotect((void *)own->open[own->opened - 1], page_bytes(), PROT_NONE);
}

/* Whether it lies in a page of device memory; what is behind an allocation's end does, too. */
static bool is_open_without_audit(uintptr_t address) {
    const uintptr_t page = page_of(address);
    for (const struct region *r = region_first(); r; r = r->next)
        if (r->on_device && !r->freed && page >= page_of(r->allocated.begin) &&
            page < r->allocated.begin + r->allocated.bytes)
            return true;
    return false;
}

/* The runtime and the checker, which look at values, too, are linked behind kernel.cu; libraries
 * are called by them, or through a guard (kernel.sh). */
static bool is_before_runtime(uintptr_t code) {
    extern void kernel_text_ends(void) __attribute__((weak));
    extern const char __executable_start[], etext[];
    const uintptr_t end = kernel_text_ends ? (uintptr_t)kernel_text_ends : (uintptr_t)etext;
    return code >= (uintptr_t)__executable_start && code < end;
}

/* The trap flag does nothing here: in some emulations of x86. */
static void trap_does_nothing(struct own *own) {
    impossible = true;
    own->opened = 0;
    end_window(own);
}

/* An access faulted: lets it through, if it is one that memory without an audit allows. */
static bool let_through(struct audit *audit, struct own *own, uintptr_t address,
                        ucontext_t *context) {
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    if (!is_open_without_audit(address)) return false;
    /* Two workers whose accesses all fault take longer than one after the other. But not for good:
     * the block that has the window may wait for this one. */
    for (int i = 0; i < PAUSES && !own->has_window && !own->opened && is_closed(own->shared); ++i)
        nanosleep(&pause, NULL);
    if (own->opened == OPEN) trap_does_nothing(own);
    const uintptr_t code = (uintptr_t)context->uc_mcontext.gregs[REG_RIP], page = page_of(address);
    if (watch_here()->slow & SLOW_AUDIT && !impossible && is_before_runtime(code) &&
        !was_announced(audit, address) && !audit->unseen) {
        audit->unseen = (const void *)code;
        audit->unseen_address = address;
    }
    if (mprotect((void *)page, page_bytes(), PROT_READ | PROT_WRITE) != 0) return false;
    if (impossible || !is_closed(own->shared)) return true; /* closed behind a window's end */
    own->open[own->opened++] = page;
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    if (!own->has_window) return true;
    const bool store = context->uc_mcontext.gregs[REG_ERR] & WRITES;
    own->spent += own->is_whole;
    if (!--*(store ? &own->stores : &own->loads)) end_window(own);
    return true;
}

/* The first time, the address of what is shared is read. */
static struct own *own_of(const ucontext_t *context) {
    struct own *own = context->uc_stack.ss_sp;
    struct shared *shared;
    if (!own || context->uc_stack.ss_flags & SS_DISABLE) return NULL;
    if (own->shared) return own;
    if (read(passed_on[0], &shared, sizeof shared) != sizeof shared) return NULL;
    own->shared = shared;
    return write(passed_on[1], &shared, sizeof shared) == sizeof shared ? own : NULL;
}

static bool faulted(int number, const void *address, void *data) {
    struct watch *w = watch_here();
    ucontext_t *context = data;
    struct audit *audit = w && w->states ? audit_of(w) : NULL;
    if (!audit || !audit->begun) return false;
    struct own *own = own_of(context);
    const bool asked = number == SIGTRAP && audit->asked != NONE;
    if (number == SIGTRAP && own && own->opened)
        close_again(own, context);
    else if (asked)
        serve(w, own);
    else if (number != SIGSEGV || !own || !let_through(audit, own, (uintptr_t)address, context))
        return false;
    return true;
}

static bool share(void) {
    struct shared *shared = fault_hidden_memory(page_bytes());
    if (!shared || pipe2(passed_on, O_CLOEXEC) != 0) return false;
    if (getrandom(&shared->random, sizeof shared->random, GRND_NONBLOCK) < 0 || !shared->random)
        shared->random = __builtin_ia32_rdtsc() | 1;
    const bool done = write(passed_on[1], &shared, sizeof shared) == sizeof shared;
    explicit_bzero(&shared, sizeof shared);
    return done;
}

void audit_nothing(void) { impossible = true; }

static void observes(struct observer *o) {
    impossible = !share();
    o->faulted = faulted;
}

const struct detector detector_unannounced = {.worker_bytes = sizeof(struct audit),
                                              .observes = observes,
                                              .launch_begins = audit_launch_begins,
                                              .launch_ended = audit_launch_ended,
                                              .block_begins = audit_block_begins,
                                              .block_ended = audit_block_ended,
                                              .announced = announced};

#else /* no way to let one instruction through */

void audit_nothing(void) {}

const struct detector detector_unannounced = {.worker_bytes = 0};

#endif
