/* What went wrong, and where: faults of kernels, the time limit, host code that dereferences a
 * device pointer.
 *
 * A kernel's fault is a signal on its worker's OS thread. The handler notes what, where and which
 * CUDA thread, wakes the launch, and never returns: the worker is parked until the process ends,
 * because nothing can be computed in a lost context anyway, and a parked thread breaks nothing.
 * Source lines are looked up later, outside the handler. */
#define _GNU_SOURCE
#include "../../report/text/text.h"
#include "runtime.h"
#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

enum {
    FAULT_FRAMES = 24,
    HANDLER_STACK_BYTES = 64 * 1024,
    SEE_TRIES = 500,           /* how often a worker is asked where it is, ... */
    STOP_TRIES = 100,          /* ... and to stop, if it is inside a library, ... */
    STOP_WAIT_NS = 1000 * 1000 /* ... and the pause between */
};

#define SIGNAL_STOP SIGUSR2

static const int fault_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
enum { FAULT_SIGNALS = sizeof fault_signals / sizeof *fault_signals };
static struct sigaction earlier[FAULT_SIGNALS];

/* Code addresses, from a place outwards. */
struct frames {
    void *at[FAULT_FRAMES];
    int count;
};

/* What is noted once: the first fault of a process is the one that is reported. Of `limit`, where a
 * worker was first seen at the time limit. */
static struct noted {
    bool claimed, complete;
    struct fault report; /* all but its words and place */
    struct frames frames;
} fault, limit;
static const char *more_of_fault; /* behind its words and advice; null: nothing */
static const char *access_of_fault;
static sem_t *completed; /* posted when a fault is complete */
static bool stopping;    /* at the time limit */

/* --- noting ----------------------------------------------------------------------------------- */

static bool is_set(const bool *flag) { return __atomic_load_n(flag, __ATOMIC_SEQ_CST); }

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *data) {
    struct frames *frames = data;
    int before = 0;
    uintptr_t code = _Unwind_GetIPInfo(context, &before);
    if (!code || frames->count == FAULT_FRAMES) return _URC_END_OF_STACK;
    /* A return address lies behind its call: one byte less is inside it. */
    frames->at[frames->count++] = (void *)(before ? code : code - 1);
    return _URC_NO_REASON;
}

static void note_location(struct noted *n) {
    n->report.kernel = worker_where(&n->report.block, &n->report.thread);
    n->frames.count = 0;
    _Unwind_Backtrace(note_frame, &n->frames);
}

static struct frames caller;

void fault_called_from(void *const *frames, int count) {
    caller.count = count < FAULT_FRAMES ? count : FAULT_FRAMES;
    if (count) memcpy(caller.at, frames, (size_t)caller.count * sizeof *frames);
}

int fault_backtrace(void **frames, int most) {
    struct frames found = caller;
    if (!found.count) _Unwind_Backtrace(note_frame, &found);
    if (found.count > most) found.count = most;
    memcpy(frames, found.at, (size_t)found.count * sizeof *frames);
    return found.count;
}

static const void *program_counter(const ucontext_t *context) {
#if defined __x86_64__
    return (const void *)context->uc_mcontext.gregs[REG_RIP];
#else
    return (const void *)context->uc_mcontext.pc;
#endif
}

static uintptr_t stack_pointer(const ucontext_t *context) {
#if defined __x86_64__
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#else
    return context->uc_mcontext.sp;
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

static _Noreturn void park(void) {
    if (this_worker) this_worker->parked = true;
    for (;;) pause();
}

/* --- reporting -------------------------------------------------------------------------------- */

static void (*message_begins)(void);

void emulator_on_message(void (*begins)(void)) { message_begins = begins; }

void fault_begin_message(void) {
    fflush(stdout);
    if (message_begins)
        message_begins();
    else
        fputc('\n', stderr);
}

static void print(const struct fault *f) {
    if (!f->what) return; /* printed already */
    fault_begin_message();
    if (f->place.line)
        fprintf(stderr, "%s:%d: %s", f->place.file, f->place.line, f->what);
    else
        fprintf(stderr, "kernel.cu: %s", f->what);
    if (f->has_address) {
        char where[160];
        memory_describe(f->address, where, sizeof where);
        fprintf(stderr, ": %s address %p", access_of_fault, f->address);
        if (where[0]) fprintf(stderr, ",\n    %s", where);
    }
    fprintf(stderr, "\n");
    if (!f->kernel) return;
    fprintf(stderr, "    thread (%u,%u,%u) of block (%u,%u,%u)", f->thread.x, f->thread.y,
            f->thread.z, f->block.x, f->block.y, f->block.z);
    if (f->place.line)
        fprintf(stderr, f->place.function[0] ? ", in %s\n" : "\n", f->place.function);
    else
        fprintf(stderr, "\n    (no source line: is addr2line, of binutils, installed?)\n");
}

static void (*handler)(const struct fault *) = print;

void fault_handle(void (*handle)(const struct fault *)) { handler = handle; }

/* With its words, and its place if that is not known yet: the first of the frames that has one. */
static void report(struct fault *f, const struct frames *frames, const char *more) {
    char what[400];
    if (f->facts.code != FAULT_NONE) {
        fault_say(&f->facts, what, sizeof what);
        append(what, sizeof what, "%s%s", fault_advice(f->facts.code), more ? more : "");
        f->what = what;
        if (!f->place.line) f->place = place_find(frames->at, frames->count);
    }
    if (observer)
        observer->fault(f);
    else
        handler(f);
}

cudaError_t fault_report(void) {
    report(&fault.report, &fault.frames, more_of_fault);
    return fault.report.error;
}

void fault_report_limit(const struct launch *launch, double block_seconds, double seconds) {
    /* Where no worker was in the kernel's own code: where that begins. */
    const struct frames begin = {{(void *)(uintptr_t)launch->kernel}, 1};
    const bool endless = block_seconds > 0;
    struct fault f = {.kernel = false};
    if (is_set(&limit.complete)) {
        f = limit.report;
        f.place = place_find(limit.frames.at, limit.frames.count);
    }
    f.error = cudaErrorLaunchTimeout;
    f.facts = (struct fault_facts){.code = endless ? FAULT_ENDLESS : FAULT_TIME_LIMIT,
                                   .seconds = endless ? block_seconds : seconds,
                                   .blocks = launch->blocks_ended,
                                   .of = launch->blocks};
    report(&f, &begin, NULL);
}

/* --- a kernel's fault ------------------------------------------------------------------------- */

static void describe_signal(int signal, const siginfo_t *info, const ucontext_t *context) {
    struct fault *f = &fault.report;
    switch (signal) {
    case SIGSEGV:
    case SIGBUS:
        if (worker_stack_overflowed(info->si_addr)) {
            f->error = cudaErrorHardwareStackError;
            f->facts.code = FAULT_STACK;
        } else if (info->si_code == SI_KERNEL) {
            f->error = cudaErrorMisalignedAddress;
            f->facts.code = FAULT_MISALIGNED;
        } else {
            f->error = cudaErrorIllegalAddress;
            f->facts.code = FAULT_ADDRESS;
            f->address = info->si_addr;
            f->has_address = true;
            access_of_fault = access_of(context);
        }
        break;
    case SIGFPE: f->facts.code = FAULT_DIVISION; break;
    case SIGILL: f->facts.code = FAULT_INSTRUCTION; break;
    default: f->facts.code = FAULT_TRAP; break;
    }
}

/* The first fault goes on from here; a worker with any other is parked. One after the time limit
 * comes of memory that is closed again. */
static void claim_fault(cudaError_t error, enum fault_code code) {
    if (is_set(&stopping) || __atomic_exchange_n(&fault.claimed, true, __ATOMIC_SEQ_CST)) park();
    fault.report.error = error;
    fault.report.facts.code = code;
}

/* Wakes the launch. */
static _Noreturn void complete_fault(void) {
    __atomic_store_n(&fault.complete, true, __ATOMIC_SEQ_CST);
    if (completed) sem_post(completed);
    park();
}

bool fault_happened(void) { return is_set(&fault.complete); }

static void kernel_fault(int signal, const siginfo_t *info, const ucontext_t *context) {
    claim_fault(cudaErrorLaunchFailure, FAULT_NONE);
    describe_signal(signal, info, context);
    note_location(&fault);
    if (!place_in_program(program_counter(context))) {
        /* Inside a library function, which may hold a lock that the host will want. */
        fault_report();
        _exit(1);
    }
    complete_fault();
}

void fault_raise(cudaError_t error, enum fault_code code) {
    claim_fault(error, code);
    note_location(&fault);
    complete_fault();
}

void fault_raise_at(cudaError_t error, enum fault_code code, const char *more, struct uint3 thread,
                    const void *address, const void *second_address) {
    const void *const addresses[] = {address, second_address};
    claim_fault(error, code);
    more_of_fault = more;
    fault.report.kernel = worker_where(&fault.report.block, &fault.report.thread);
    fault.report.thread = thread;
    for (int i = 0; i < 2; ++i) /* one byte less than a return address is inside the call */
        if (addresses[i])
            fault.frames.at[fault.frames.count++] = (char *)(uintptr_t)addresses[i] - 1;
    complete_fault();
}

void emulator_trap(void) {
    if (!worker_in_kernel()) abort();
    fault_raise(cudaErrorLaunchFailure, FAULT_TRAP_CALLED);
}

/* What -fsanitize=return has a function call that ends without a return statement; it passes where
 * the function begins (compiler-rt, ubsan_handlers.h). Without that option the function runs on
 * into what lies behind it. Weak: another sanitizer's may be linked, too. */
struct function_begins {
    const char *file;
    uint32_t line, column;
};
void __ubsan_handle_missing_return(const struct function_begins *at);

__attribute__((weak)) void __ubsan_handle_missing_return(const struct function_begins *at) {
    const bool kernel = worker_in_kernel();
    struct noted of_host, *n = kernel ? &fault : &of_host;
    if (kernel)
        claim_fault(cudaErrorLaunchFailure, FAULT_NO_RETURN);
    else
        of_host = (struct noted){.report = {.facts = {.code = FAULT_NO_RETURN}}};
    n->report.place.line = (int)at->line;
    snprintf(n->report.place.file, sizeof n->report.place.file, "%s", path_from_here(at->file));
    note_location(n);
    if (kernel) complete_fault();
    report(&n->report, &n->frames, NULL);
    abort();
}

#ifdef __GLIBC__
/* assert() in a kernel: CUDA's message and error. In host code: C's. */
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function) {
    struct uint3 block, thread;
    const bool kernel = worker_where(&block, &thread);
    if (kernel && observer) {
        fault.report.facts.assertion = assertion; /* of several threads' failures, any will do */
        fault_raise(cudaErrorAssert, FAULT_ASSERTION);
    }
    fault_begin_message();
    if (!kernel) {
        fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, assertion);
        abort();
    }
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
            file, line, function, block.x, block.y, block.z, thread.x, thread.y, thread.z,
            assertion);
    fault_raise(cudaErrorAssert, FAULT_NONE);
}
#endif

/* --- the host's fault ------------------------------------------------------------------------- */

/* Host code crashed: reports where, and leaves the rest to the handler installed before this one,
 * which gets the signal when the instruction is repeated. */
static void host_fault(int signal, const siginfo_t *info, const ucontext_t *context) {
    enum { FRAME = 64 * 1024 }; /* no function's is larger, as a rule */
    const bool device = (signal == SIGSEGV || signal == SIGBUS) && memory_is_device(info->si_addr);
    const uintptr_t from = stack_pointer(context) - (uintptr_t)info->si_addr + FRAME;
    const bool full = signal == SIGSEGV && info->si_code == SEGV_MAPERR && from < 2 * FRAME;
    struct noted n = {.report = {.facts = {.code = device ? FAULT_DEVICE_POINTER
                                                   : full ? FAULT_HOST_STACK
                                                          : FAULT_HOST,
                                           .signal = signal,
                                           .address = info->si_addr},
                                 .address = device ? info->si_addr : NULL}};
    note_location(&n);
    report(&n.report, &n.frames, NULL);
    for (int i = 0; i < FAULT_SIGNALS; ++i)
        if (fault_signals[i] == signal) sigaction(signal, &earlier[i], NULL);
}

/* --- stopping at the time limit --------------------------------------------------------------- */

/* Runs on a worker, which is to stop if that has begun, or is only asked where it is. (Another
 * process, in which host code runs, can send this signal, too.) A worker inside a library function
 * may hold a lock, and one between two fibers has no location, so they go on and are asked again.
 */
static void on_stop(int signal, siginfo_t *info, void *context) {
    const void *here = program_counter(context);
    const bool stop = is_set(&stopping);
    (void)signal;
    if (info->si_code != SI_QUEUE || !this_worker) return;
    bool runs = worker_in_kernel() && !this_worker->parked;
    if (runs) {
        bool yields = this_worker->yielding; /* a library call that holds no lock */
        if (!yields && fiber_is_switching(here)) return;
        if (!__atomic_exchange_n(&limit.claimed, true, __ATOMIC_SEQ_CST)) {
            note_location(&limit);
            __atomic_store_n(&limit.complete, true, __ATOMIC_SEQ_CST);
        }
        if (!stop || (!yields && !place_in_program(here))) return;
    }
    if (stop) __atomic_store_n(&this_worker->stopped, true, __ATOMIC_SEQ_CST);
    if (runs) park();
}

static void pause_between_tries(void) {
    const struct timespec moment = {.tv_nsec = STOP_WAIT_NS};
    nanosleep(&moment, NULL);
}

void fault_see_worker(const struct worker *worker) {
    for (int i = 0; i < SEE_TRIES && !is_set(&limit.complete); ++i) {
        pthread_sigqueue(worker->thread, SIGNAL_STOP, (union sigval){0});
        pause_between_tries();
    }
}

void fault_stop_workers(struct worker *const *workers, int count) {
    int running = count;
    __atomic_store_n(&stopping, true, __ATOMIC_SEQ_CST);
    for (int try = 0; try < STOP_TRIES && running; ++try) {
        for (int i = 0; i < count; ++i)
            if (!is_set(&workers[i]->stopped))
                pthread_sigqueue(workers[i]->thread, SIGNAL_STOP, (union sigval){0});
        pause_between_tries();
        running = 0;
        for (int i = 0; i < count; ++i) running += !is_set(&workers[i]->stopped);
    }
    if (running) flockfile(stdout); /* for good: a kernel that prints waits for it */
}

/* --- signals ---------------------------------------------------------------------------------- */

static void on_fault(int signal, siginfo_t *info, void *context) {
    if (this_worker && observer && observer->faulted &&
        observer->faulted(signal, info->si_addr, context))
        return;
    if (worker_in_kernel() && signal == SIGSEGV && writers_faulted(info->si_addr)) return;
    if (worker_in_kernel())
        kernel_fault(signal, info, context);
    else
        host_fault(signal, info, context);
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

void fault_other_signals(sigset_t *set) {
    sigfillset(set);
    for (int i = 0; i < FAULT_SIGNALS; ++i) sigdelset(set, fault_signals[i]);
    sigdelset(set, SIGNAL_STOP);
    sigdelset(set, SIGABRT); /* abort() in a kernel */
    sigdelset(set, SIGSYS);
}

void fault_wake(sem_t *event) { completed = event; }

void fault_install(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_all);
}

void *fault_hidden_memory(size_t bytes) {
    enum { PAGE_BITS = 12, PLACE_BITS = 45 };
    const uintptr_t lowest = (uintptr_t)1 << (PLACE_BITS + 1); /* beyond device memory */
    uintptr_t drawn = 0;
    if (getrandom(&drawn, sizeof drawn, GRND_NONBLOCK) != sizeof drawn) drawn = 0;
    drawn = drawn >> (64 - PLACE_BITS + PAGE_BITS) << PAGE_BITS;
    void *made = mmap((void *)(lowest + drawn), bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    explicit_bzero(&drawn, sizeof drawn);
    return made == MAP_FAILED ? NULL : made;
}

/* A fiber's stack may be what overflowed, so handlers have a stack of their own. */
void fault_thread_stack(void) {
    stack_t stack = {.ss_size = HANDLER_STACK_BYTES,
                     .ss_sp = fault_hidden_memory(HANDLER_STACK_BYTES)};
    if (stack.ss_sp) sigaltstack(&stack, NULL);
    explicit_bzero(&stack, sizeof stack);
}
