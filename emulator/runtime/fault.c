/* What went wrong, and where: faults of kernels, the time limit, the host's touch of device memory.
 *
 * A kernel's fault is a signal on its worker's OS thread. The handler notes what, where and which
 * CUDA thread, wakes the launch, and never returns: the worker stands still until the process
 * ends, because nothing can be computed in a lost context anyway, and a thread that stands still
 * breaks nothing. Lines of source are looked up later, outside the handler. */
#define _GNU_SOURCE
#include "runtime.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum {
    FRAMES = 24,
    HANDLER_STACK_BYTES = 64 * 1024,
    STOP_TRIES = 500,          /* how often a worker inside a library call is asked again ... */
    STOP_WAIT_NS = 1000 * 1000 /* ... and the pause between */
};

#define SIGNAL_STOP SIGUSR2

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { FAULT_SIGNALS = sizeof fault_signals / sizeof *fault_signals };
static struct sigaction earlier[FAULT_SIGNALS];

/* Where a CUDA thread stands. */
struct stand {
    struct uint3 block, thread;
    void *frames[FRAMES];
    int count;
};

static struct {
    bool claimed; /* the first fault of a process is the one that is told */
    cudaError_t error;
    const char *what;
    const void *address;
    bool has_address;
    const char *access;
    struct stand stand;
} fault;

/* Where the first worker stood that was stopped at the time limit; and where the first one was
 * seen that could not be stopped there, which has to do if none ever is. */
static struct sighting {
    bool claimed, complete;
    struct stand stand;
} stopped, passing;

/* --- noting ----------------------------------------------------------------------------------- */

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *data) {
    struct stand *stand = data;
    int before = 0;
    uintptr_t ip = _Unwind_GetIPInfo(context, &before);
    if (!ip || stand->count == FRAMES) return _URC_END_OF_STACK;
    const char *code = (const char *)ip;
    const char *returned_to = before ? breakpoint_reached(code) : code;
    /* A return address lies behind its call: one byte less is inside it. */
    stand->frames[stand->count++] = (void *)(uintptr_t)(returned_to ? returned_to - 1 : code);
    return _URC_NO_REASON;
}

static void note_stand(struct stand *stand) {
    worker_where(&stand->block, &stand->thread);
    stand->count = 0;
    _Unwind_Backtrace(note_frame, stand);
}

int fault_backtrace(void **frames, int most) {
    struct stand stand;
    stand.count = 0;
    _Unwind_Backtrace(note_frame, &stand);
    int count = stand.count < most ? stand.count : most;
    memcpy(frames, stand.frames, (size_t)count * sizeof *frames);
    return count;
}

static const void *program_counter(const ucontext_t *context) {
#if defined __x86_64__
    return (const void *)context->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (const void *)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

static void set_program_counter(ucontext_t *context, const void *address) {
#if defined __x86_64__
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)address;
#elif defined __aarch64__
    context->uc_mcontext.pc = (uintptr_t)address;
#else
    (void)context;
    (void)address;
#endif
}

static const char *access_of(const ucontext_t *context) {
#if defined __x86_64__
    const long long write_bit = 2; /* page fault error code, Intel SDM volume 3, 4.7 */
    return context->uc_mcontext.gregs[REG_ERR] & write_bit ? "write to" : "read from";
#else
    (void)context;
    return "access to";
#endif
}

/* Workers that stand still of their own accord. */
static struct {
    pthread_t who[64];
    int count;
} still;

static void stand_still(void) __attribute__((noreturn));
static void stand_still(void) {
    const int most = sizeof still.who / sizeof *still.who;
    int i = __atomic_fetch_add(&still.count, 1, __ATOMIC_SEQ_CST);
    if (i < most) still.who[i] = pthread_self();
    for (;;) pause();
}

static bool stands_still(void) {
    const int most = sizeof still.who / sizeof *still.who;
    int count = __atomic_load_n(&still.count, __ATOMIC_SEQ_CST);
    for (int i = 0; i < count && i < most; ++i)
        if (pthread_equal(still.who[i], pthread_self())) return true;
    return false;
}

/* --- telling ---------------------------------------------------------------------------------- */

static void (*message_begins)(void);

void emulator_on_message(void (*begins)(void)) { message_begins = begins; }

void fault_begin_message(void) {
    fflush(stdout);
    if (message_begins)
        message_begins();
    else
        fputc('\n', stderr);
}

static void print_place(const struct place *place) {
    fault_begin_message();
    if (place->line)
        fprintf(stderr, "%s:%d: ", place->file, place->line);
    else
        fprintf(stderr, "kernel.cu: ");
}

static void print_stand(const struct stand *stand, const struct place *place) {
    fprintf(stderr, "    thread (%u,%u,%u) of block (%u,%u,%u)", stand->thread.x, stand->thread.y,
            stand->thread.z, stand->block.x, stand->block.y, stand->block.z);
    if (place->line) fprintf(stderr, ", in %s", place->function);
    fprintf(stderr, "\n");
    if (!place->line)
        fprintf(stderr, "    (no source line: is addr2line, of binutils, installed?)\n");
}

static void print(const struct told_fault *report) {
    const struct stand stand = {.block = report->block, .thread = report->thread};
    if (!report->what) return; /* told already */
    print_place(&report->place);
    fprintf(stderr, "%s", report->what);
    if (report->has_address) {
        char where[160];
        memory_describe(report->address, where, sizeof where);
        fprintf(stderr, ": %s address %p", fault.access, report->address);
        if (where[0]) fprintf(stderr, ",\n    %s", where);
    }
    fprintf(stderr, "\n");
    if (report->kernel) print_stand(&stand, &report->place);
}

static void (*told_to)(const struct told_fault *);

void fault_tell(void (*tell)(const struct told_fault *)) { told_to = tell; }

static void tell(const struct told_fault *report) {
    if (observer)
        observer->fault(report);
    else if (told_to)
        told_to(report);
    else
        print(report);
}

static void tell_fault(void) {
    const struct told_fault report = {
        .kind = fault.error == cudaErrorLaunchTimeout ? FAULT_DEADLOCK : FAULT_OTHER,
        .error = fault.error,
        .what = fault.what,
        .kernel = true,
        .block = fault.stand.block,
        .thread = fault.stand.thread,
        .place = fault.what ? place_find(fault.stand.frames, fault.stand.count)
                            : (struct place){.line = 0},
        .address = fault.address,
        .has_address = fault.has_address,
    };
    tell(&report);
}

cudaError_t fault_report(void) {
    if (!fault.claimed) return cudaSuccess;
    tell_fault();
    return fault.error;
}

/* Null if every worker was between two threads each time it was asked. */
static const struct stand *stand_at_limit(void) {
    if (__atomic_load_n(&stopped.complete, __ATOMIC_SEQ_CST)) return &stopped.stand;
    if (__atomic_load_n(&passing.complete, __ATOMIC_SEQ_CST)) return &passing.stand;
    return NULL;
}

/* Where no worker was in the kernel's own code: where that begins. */
static struct place place_of_limit(const struct launch *launch, const struct stand *stand) {
    void *kernel = (void *)(uintptr_t)launch->kernel;
    struct place place = {.line = 0};
    if (stand) place = place_find(stand->frames, stand->count);
    return place.line ? place : place_find(&kernel, 1);
}

void fault_report_limit(const struct launch *launch, double block_seconds, double seconds) {
    char what[160];
    const struct stand *stand = stand_at_limit();
    struct told_fault report = {
        .kind = block_seconds > 0 ? FAULT_ENDLESS : FAULT_TIME_LIMIT,
        .error = cudaErrorLaunchTimeout,
        .what = what,
        .kernel = stand != NULL,
        .place = place_of_limit(launch, stand),
    };
    if (block_seconds > 0)
        snprintf(what, sizeof what,
                 "the kernel does not end: a block was still running here after %.1f s",
                 block_seconds);
    else
        snprintf(what, sizeof what,
                 "time limit exceeded: %" PRIu64 " of %" PRIu64 " blocks were done after %.1f s",
                 launch->blocks_ended, launch->blocks, seconds);
    if (stand) {
        report.block = stand->block;
        report.thread = stand->thread;
    }
    tell(&report);
}

/* --- a kernel's fault ------------------------------------------------------------------------- */

static void describe_signal(int signal, const siginfo_t *info, const ucontext_t *context) {
    fault.error = cudaErrorLaunchFailure;
    switch (signal) {
    case SIGSEGV:
    case SIGBUS:
        if (worker_stack_overflowed(info->si_addr)) {
            fault.error = cudaErrorHardwareStackError;
            fault.what = "stack overflow: a thread's local variables need more than 250 KB";
        } else if (info->si_code == SI_KERNEL) {
            fault.error = cudaErrorMisalignedAddress;
            fault.what = "misaligned vector access, or an address that cannot exist";
        } else {
            fault.error = cudaErrorIllegalAddress;
            fault.what = "illegal memory access";
            fault.address = info->si_addr;
            fault.has_address = true;
            fault.access = access_of(context);
        }
        break;
    case SIGFPE: fault.what = "integer division by zero (a GPU gives a meaningless value)"; break;
    case SIGILL: fault.what = "illegal instruction"; break;
    default: fault.what = "trap"; break;
    }
}

static bool claim_fault(void) {
    return !__atomic_exchange_n(&fault.claimed, true, __ATOMIC_SEQ_CST);
}

static void kernel_fault(int signal, const siginfo_t *info, const ucontext_t *context) {
    if (!claim_fault()) stand_still();
    describe_signal(signal, info, context);
    note_stand(&fault.stand);
    if (!place_in_program(program_counter(context))) {
        /* Inside a library function, which may hold a lock that the host will want. */
        tell_fault();
        _exit(1);
    }
    launch_worker_lost();
    stand_still();
}

void fault_raise(cudaError_t error, const char *what) {
    if (!claim_fault()) stand_still();
    fault.error = error;
    fault.what = what;
    note_stand(&fault.stand);
    launch_worker_lost();
    stand_still();
}

void fault_raise_at(cudaError_t error, const char *what, struct uint3 thread, const void *address,
                    const void *second_address) {
    const void *const addresses[] = {address, second_address};
    if (!claim_fault()) stand_still();
    fault.error = error;
    fault.what = what;
    note_stand(&fault.stand);
    fault.stand.thread = thread;
    fault.stand.count = 0;
    for (int i = 0; i < 2; ++i) /* one byte less than a return address is inside the call */
        if (addresses[i])
            fault.stand.frames[fault.stand.count++] = (char *)(uintptr_t)addresses[i] - 1;
    launch_worker_lost();
    stand_still();
}

void emulator_trap(void) {
    struct uint3 block, thread;
    if (!worker_where(&block, &thread)) abort();
    fault_raise(cudaErrorLaunchFailure, "__trap() was called");
}

#ifdef __GLIBC__
/* assert() in a kernel: CUDA's message and error. In host code: C's. */
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
    struct uint3 block, thread;
    const bool kernel = worker_where(&block, &thread);
    if (kernel && observer) {
        static char
            what[200]; /* the first of several faults is reported; any of their texts will do */
        snprintf(what, sizeof what, "the assertion %s failed", assertion);
        fault_raise(cudaErrorAssert, what);
    }
    fault_begin_message();
    if (!kernel) {
        fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
        abort();
    }
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
            file, line, function, block.x, block.y, block.z, thread.x, thread.y, thread.z,
            assertion);
    fault_raise(cudaErrorAssert, NULL);
}
#endif

/* --- the host's fault ------------------------------------------------------------------------- */

static void restore_earlier_handler(int signal) {
    for (int i = 0; i < FAULT_SIGNALS; ++i)
        if (fault_signals[i] == signal) sigaction(signal, &earlier[i], NULL);
}

/* Host code crashed: say where, and leave the rest to whoever handled the signal before us, who
 * gets it again when the instruction is repeated. */
static void host_fault(int signal, const siginfo_t *info) {
    struct stand stand;
    char what[160];
    bool followed = (signal == SIGSEGV || signal == SIGBUS) && memory_is_device(info->si_addr);
    note_stand(&stand);
    if (followed)
        snprintf(what, sizeof what,
                 "host code touches device memory at %p;\n"
                 "    only kernels and cudaMemcpy may follow a device pointer",
                 info->si_addr);
    else
        snprintf(what, sizeof what, "host code crashed here: %s", strsignal(signal));
    const struct told_fault report = {
        .what = what,
        .place = place_find(stand.frames, stand.count),
        .address = followed ? info->si_addr : NULL,
    };
    tell(&report);
    restore_earlier_handler(signal);
}

/* --- stopping --------------------------------------------------------------------------------- */

static struct {
    const pthread_t *workers;
    bool *standing;
    void **way_back; /* of each that was met inside a library: where it comes back from it */
    int count;
} stopping;

/* The number of the worker that this is; -1 for other threads. */
static int this_worker(void) {
    for (int i = 0; i < stopping.count; ++i)
        if (pthread_equal(stopping.workers[i], pthread_self())) return i;
    return -1;
}

static void note_standing(void) {
    int worker = this_worker();
    if (worker >= 0) __atomic_store_n(&stopping.standing[worker], true, __ATOMIC_SEQ_CST);
}

struct way_back {
    bool found_library; /* frames from here on are those that the signal has met */
    void *address;
};

static _Unwind_Reason_Code find_way_back(struct _Unwind_Context *context, void *data) {
    struct way_back *way = data;
    int interrupted = 0;
    void *code = (void *)_Unwind_GetIPInfo(context, &interrupted);
    if (interrupted) way->found_library = true;
    if (!way->found_library || !place_in_program(code)) return _URC_NO_REASON;
    way->address = code;
    return _URC_END_OF_STACK;
}

static void note_way_back(void) {
    struct way_back way = {.address = NULL};
    int worker = this_worker();
    _Unwind_Backtrace(find_way_back, &way);
    if (worker >= 0) __atomic_store_n(&stopping.way_back[worker], way.address, __ATOMIC_SEQ_CST);
}

/* The first one is kept. */
static void note_sighting(struct sighting *sighting) {
    if (__atomic_exchange_n(&sighting->claimed, true, __ATOMIC_SEQ_CST)) return;
    note_stand(&sighting->stand);
    __atomic_store_n(&sighting->complete, true, __ATOMIC_SEQ_CST);
}

/* Runs on a worker. One inside a library function may hold a lock, and one between two fibers has
 * no place to tell, so they are left alone and asked again a little later. A kernel that prints
 * is met inside the library nearly each time: where it is seen is noted all the same, and a
 * breakpoint waits for it where it comes back. */
static void on_stop(int signal, siginfo_t *info, void *context) {
    struct uint3 block, thread;
    (void)signal;
    (void)info;
    if (stands_still() || !worker_where(&block, &thread)) {
        note_standing();
        return;
    }
    if (!worker_is_yielding()) {
        const void *here = program_counter(context);
        if (fiber_is_switching(here)) return;
        if (!place_in_program(here)) {
            note_sighting(&passing);
            note_way_back();
            return;
        }
    }
    note_sighting(&stopped);
    note_standing();
    stand_still();
}

/* A worker has come back from a library; it has been sighted there. */
static void on_breakpoint(ucontext_t *context, void *code) {
    if (this_worker() >= 0) {
        note_standing();
        stand_still();
    }
    breakpoints_clear(); /* host code that kernels use, too */
    set_program_counter(context, code);
}

static bool is_standing(int worker) {
    return __atomic_load_n(&stopping.standing[worker], __ATOMIC_SEQ_CST);
}

static int still_running(void) {
    int running = 0;
    for (int i = 0; i < stopping.count; ++i) running += !is_standing(i);
    return running;
}

static void ask_to_stop(int worker) {
    void *way_back = __atomic_load_n(&stopping.way_back[worker], __ATOMIC_SEQ_CST);
    if (is_standing(worker)) return;
    if (way_back) breakpoint_set(way_back);
    pthread_kill(stopping.workers[worker], SIGNAL_STOP);
}

/* The others wait for `first`, whose place is wanted, but not for long. */
void fault_stop_workers(const pthread_t *workers, int count, int first) {
    const struct timespec pause_between = {.tv_nsec = STOP_WAIT_NS};
    stopping.workers = workers;
    stopping.standing = calloc((size_t)count, sizeof *stopping.standing);
    stopping.way_back = calloc((size_t)count, sizeof *stopping.way_back);
    if (!stopping.standing || !stopping.way_back) return;
    stopping.count = count;
    for (int try = 0; try < STOP_TRIES && still_running(); ++try) {
        ask_to_stop(first);
        for (int i = 0; i < count && (is_standing(first) || try > STOP_TRIES / 2); ++i)
            ask_to_stop(i);
        nanosleep(&pause_between, NULL);
    }
    if (!still_running()) breakpoints_clear();
}

/* --- signals ---------------------------------------------------------------------------------- */

static void on_fault(int signal, siginfo_t *info, void *context) {
    struct uint3 block, thread;
    void *breakpoint = signal == SIGTRAP ? breakpoint_reached(program_counter(context)) : NULL;
    if (breakpoint)
        on_breakpoint(context, breakpoint);
    else if (worker_where(&block, &thread))
        kernel_fault(signal, info, context);
    else
        host_fault(signal, info);
}

static void install(int signal, void (*handler)(int, siginfo_t *, void *),
                    struct sigaction *before) {
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, before);
}

static void install_all(void) {
    for (int i = 0; i < FAULT_SIGNALS; ++i) install(fault_signals[i], on_fault, &earlier[i]);
    install(SIGNAL_STOP, on_stop, NULL);
}

void fault_install(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_all);
}

/* A fiber's stack may be what overflowed, so handlers have a stack of their own. */
void fault_thread_stack(void) {
    stack_t stack = {.ss_size = HANDLER_STACK_BYTES, .ss_sp = malloc(HANDLER_STACK_BYTES)};
    if (stack.ss_sp) sigaltstack(&stack, NULL);
}
