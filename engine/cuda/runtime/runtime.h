/* What the runtime's files share. Students' code never sees this. Each file calls only those below
 * it here:
 *
 *   launch.c       launch checks, one worker a core, blocks over workers, the time limit
 *   device.c       the device's properties, streams, events, function attributes
 *   memory.c       cudaMalloc, cudaMemcpy and the like
 *   block.c        the threads of one block: who runs next, barriers, warp operations
 *   copies.c       asynchronous copies into shared memory
 *   fault.c        signals: what a kernel or host code did, and where
 *   allocations.c  the pages that are device memory, and which blocks of a launch write there
 *   error.c        error codes and which call returns them
 *   worker.c       one worker's thread-local variables, shared memory among them; its fibers
 *
 * ../program/ knows the program's symbols and lines. ../../watch/ watches all of it in the checked
 * build, through struct observer.
 */
#ifndef EMULATOR_RUNTIME_H
#define EMULATOR_RUNTIME_H
#include "../../report/device.h"
#include "../include/barrier.h"
#include "../include/cuda_runtime_api.h"
#include "../program/program.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

/* Further limits of compute capability 9.0, beside those of report/device.h. */
enum {
    SHARED_PER_BLOCK_OPTIN = 227 * 1024, /* with cudaFuncSetAttribute */
    SHARED_PER_MULTIPROCESSOR = 228 * 1024,
    SHARED_RESERVED = 1024,
    THREADS_PER_MULTIPROCESSOR = 2048,
    BLOCKS_PER_MULTIPROCESSOR = 32,
    REGISTERS = 65536,
    CONSTANT_MEMORY = 64 * 1024,
    MAX_PITCH = 2147483647 /* bytes from row to row in a copy */
};

/* --- block.c ---------------------------------------------------------------------------------- */

/* Blocks of a launch by number, from the first to the last; and several such runs, in order. */
struct block_run {
    uint64_t first, last;
};
struct block_runs {
    const struct block_run *run;
    size_t count;
};

struct launch {
    const void *kernel;
    struct uint3 grid, block;
    unsigned block_threads;
    uint64_t blocks;
    size_t shared_bytes;              /* dynamic */
    void (*thread)(const void *copy); /* of data, on the thread's stack */
    const void *data;
    size_t data_bytes;
    uint64_t next_block; /* taken with an atomic add, as are the next two */
    uint64_t blocks_ended, work;
    bool alone;                    /* on the first worker: no two blocks run at once */
    bool stop;                     /* no further block is begun */
    bool noted;                    /* which blocks write is noted */
    const struct block_runs *only; /* the blocks that run, the others are passed over; null: all */
};

/* A worker with its stacks and tables, for any launch. Null when out of memory. */
struct worker *worker_create(void);

/* The running thread of the running block returns at once, wherever it is in the kernel's code. No
 * lock of the runtime's is held. */
void emulator_end_thread(void) __attribute__((noreturn));
/* Runs block number `index` of the launch on this OS thread's worker, all of its threads. Returns
 * its work: how many threads were begun, and how many arrived at each barrier, added up. */
uint64_t worker_run_block(const struct launch *launch, uint64_t index);

/* --- worker.c --------------------------------------------------------------------------------- */

/* Room for a thread's local arrays; pages are used as touched. An odd number of pages: with a power
 * of two the stacks' tops would compete for a few sets of the cache and the TLB (measured: twice as
 * slow). The lowest page of a stack is a guard. */
enum { STACK_BYTES = 65 * 4096 };

/* An OS thread's memory: what warp operations bring, which is the runtime's; its stacks; its
 * thread-local storage; and the ranges of that which are the running block's static shared memory,
 * in order of their addresses. */
enum { SHARED_RANGES = 8 };
struct range {
    char *begin, *end;
};
struct worker_memory {
    struct range exchanged, stacks, thread_local_storage;
    struct range shared[SHARED_RANGES];
    int shared_ranges;
};

/* What the runtime's files know of a worker; block.c's own part lies behind it. */
struct worker {
    struct worker_memory memory;
    pthread_t thread;
    pid_t tid;                      /* its number for the system */
    struct copies *copies;          /* null: no kernel has made an asynchronous copy */
    volatile bool yielding, parked; /* in sched_yield; in fault.c until the process ends */
    bool stopped;                   /* at a time limit: outside kernels, or parked */
    uint64_t steps;                 /* blocks begun and ended: odd while it runs one */
    long long clock;                /* of its block, where that is observed: emulator_clock() */
    struct look {                   /* launch.c's: what it has seen, by the worker's clock */
        double launched, since;     /* the worker is at this step */
        uint64_t steps;
    } look;
};
extern __thread struct worker *this_worker; /* null in the host's threads */

/* Makes this OS thread run blocks as `worker`. */
void worker_attach(struct worker *worker);

/* The current thread outside kernels. */
extern struct emulator_thread worker_no_thread;

/* Whether a CUDA thread runs here now. */
bool worker_in_kernel(void);

/* The lane that brought the value at this address of this worker's `exchanged`; WARP_SIZE: there is
 * no value there. */
unsigned worker_lane_of(const void *value);

/* Ends the program with a message: host code has called `what`, a function for kernels. */
void worker_refuse(const char *what) __attribute__((noreturn));

/* Which thread runs here now. False outside a kernel. */
bool worker_where(struct uint3 *block, struct uint3 *thread);

/* Whether `address` lies in the guard page of a stack of this OS thread's worker. */
bool worker_stack_overflowed(const void *address);

/* The running thread's place in its block, as kernels (the index) and the runtime (the linear
 * index, x fastest) know it. block.c alone writes it and blockIdx. */
struct running_index {
    struct uint3 index;
    unsigned linear;
} __attribute__((aligned(16)));
extern __thread struct running_index running_index __asm__("threadIdx");
extern __thread struct uint3 blockIdx;
extern struct dim3 blockDim, gridDim;
extern __thread char emulator_dynamic_shared[];

/* A suspended fiber. */
typedef struct emulator_context fiber;

/* Makes a fiber that calls entry() on the given stack when first switched to; entry must not
 * return. The stack is the caller's and must outlive the fiber. */
void fiber_create(fiber *made, void *stack, size_t bytes, void (*entry)(void));

/* Suspends the running fiber into *save and goes on with *to. Returns when another fiber switches
 * to *save. */
void fiber_switch(fiber *save, const fiber *to);

/* Where a suspended fiber will go on; null where that is not known. */
const void *fiber_return_address(const fiber *suspended);

/* Whether a code address may lie inside the switch itself, where no unwinder works. */
bool fiber_is_switching(const void *address);

/* --- copies.c --------------------------------------------------------------------------------- */

/* An asynchronous copy into shared memory: bytes from global memory, the last of them zeros. */
struct async_copy {
    char *to;
    const char *from;
    unsigned bytes, zeros;
    uint64_t group;   /* of its thread's, counted from 0 */
    const void *code; /* that asked for it: behind the call */
};

/* How many groups the running thread has committed. */
uint64_t copies_committed(void);
/* The running thread returns: its pending copies arrive. `copies` is its worker's. */
void copies_thread_returns(struct copies *copies);

/* --- launch.c --------------------------------------------------------------------------------- */

/* So many workers at most, for what must happen in the same order each time; before the first
 * launch. Or: launches of so many threads at most use one worker. */
void launch_limit_workers(int count);
void launch_run_alone(uint64_t threads);

/* What a launch may take; 0: any. A block that takes longer than a block may is one that does not
 * end; blocks that end, but too many of them, are a slow kernel. `work`, as worker_run_block counts
 * it, is the same each time, and looked at when a block has ended. */
struct time_limits {
    double block_seconds, seconds; /* both, or none */
    uint64_t work;
    bool processor_time; /* seconds of the busiest worker's processor time, not wall-clock time, so
                            that other processes on a busy machine do not count. A kernel that
                            sleeps is stopped all the same, later. */
};

/* For the launches from now on. emulator_time_limit() is a short form: of the same time for a block
 * and the launch, in wall-clock time. */
void launch_limit_time(const struct time_limits *limits);

/* From now on, in a launch that is running too, a block may take so many seconds at most. */
void launch_limit_block(double block_seconds);

/* Whether a launch is running. Async-signal-safe. */
bool launch_is_running(void);

/* The work of all launches so far. */
uint64_t launches_work(void);

/* Launches so far that a GPU would have accepted. */
int launches_made(void);

/* --- memory.c --------------------------------------------------------------------------------- */

/* A copy that the host asks for, about to be made. */
struct memory_copy {
    const char *to, *from;
    size_t bytes;                /* from the first to the last that is written */
    bool to_device, from_device; /* a __device__ variable's memory is the device's */
};
/* From now on, `watcher` is called at each; null: no longer. */
void memory_watch_copies(void (*watcher)(const struct memory_copy *copy));

/* --- allocations.c ---------------------------------------------------------------------------- */

/* Managed and pinned memory is both the host's and the device's. */
enum allocation_kind { ALLOCATION_NONE, ALLOCATION_DEVICE, ALLOCATION_MANAGED, ALLOCATION_PINNED };

/* `bytes` of poisoned memory, the runtime's until memory_free; null when out of memory. */
void *memory_allocate(size_t bytes, enum allocation_kind kind);

/* Reserves the addresses of an allocation of the far device's, so that host code that dereferences
 * them faults. False: they are not free. */
bool memory_reserve(void *begin, size_t bytes);

/* Frees an allocation by its begin. False: there is none, or pinned memory is not of that kind. */
bool memory_free(void *pointer, bool pinned);
/* The allocation that was made last; null: there is none. */
void *memory_last(bool *pinned);

/* Opens device memory while kernels and copies run; nests. When closed, host code that accesses it
 * faults. */
void memory_open(void);
void memory_close(void);

/* Of the allocation that has all `bytes` from `address` on; ALLOCATION_NONE where none has. */
enum allocation_kind allocation_kind_of(const void *address, size_t bytes);

/* Whether address is device memory: inside an allocation, or in the gap around one. */
bool memory_is_device(const void *address);

/* symbols.c: whether host code has asked for the device's address of the variable that has all
 * `bytes` from `address` on. */
bool symbol_is_asked(const void *address, size_t bytes);

/* Host code reads device memory: what a kernel has stored there may be a variable's address. */
void symbol_host_reads(void);

/* The host's address of a variable, for which a launch has passed this one instead; 0: none. */
uintptr_t symbol_in_host(uintptr_t address);

/* Whether any of the `bytes` from address on is device memory, or in the gap around some. */
bool memory_touches_device(const void *address, size_t bytes);

/* Says in words where an address lies relative to the nearest allocation; empty if near none.
 * Takes no lock, for use after a fault. */
void memory_describe(const void *address, char *text, size_t bytes);

/* Which blocks of a run's launches write to device memory, as far as that is known: of launches of
 * more than WRITERS_THREADS threads (the checker watches as many in a tenth of a second) that came
 * to their end, on one worker, by their number from 1 on. Plain data, which one process writes and
 * another one reads, of the same launches; all zeros: nothing is known. */
enum { WRITERS_THREADS = 1 << 17, WRITERS_LAUNCHES = 16, WRITERS_RUNS = 2000 };
struct writers {
    uint64_t work;        /* of all launches, without the blocks that are known to write nothing */
    uint64_t sample;      /* the reader's: what it draws a sample of the other blocks with */
    uint32_t count, runs; /* of the launches and runs below */
    struct writers_launch {
        int32_t number;
        uint32_t grid[3], block[3];
        uint32_t first, count; /* of its runs: blocks that write */
    } launch[WRITERS_LAUNCHES];
    struct block_run run[WRITERS_RUNS];
};

/* From now on launches are noted there. While a block of one runs, device memory can only be read
 * until the block writes to it. `into` is all zeros, and must outlive the run. */
void writers_note(struct writers *into);

/* launch.c's: a launch, the pool's only worker's, begins; whether it is noted. One of its blocks
 * has ended. All have ended (or a launch that was not noted), with so much work. */
bool writers_launch_begins(const struct launch *launch);
void writers_block_ended(uint64_t block, uint64_t work);
void writers_launch_ended(const struct launch *launch, int number, bool all);

/* fault.c's, in a signal handler: a kernel's access to an address faulted. True: it may go on. */
bool writers_faulted(const void *address);

/* --- fault.c ---------------------------------------------------------------------------------- */

/* Installs the handlers (once); gives this OS thread a stack for them. That is hidden memory whose
 * lowest HANDLER_OWN bytes are the observer's: what a handler keeps there (at its context's
 * uc_stack.ss_sp) no kernel can find. */
enum { HANDLER_OWN = 256 };
void fault_install(void);
void fault_thread_stack(void);

/* Fresh zeroed memory of this process, never freed, at a random address that is noted nowhere;
 * null: out of memory. */
void *fault_hidden_memory(size_t bytes);

/* Fills `set` with the signals by which no kernel fails and none is stopped. */
void fault_other_signals(sigset_t *set);

/* At the first fault of a kernel `event` is posted, and fault_happened() true. */
void fault_wake(sem_t *event);
bool fault_happened(void);

/* Ends the launch with this error, on account of the running thread; the worker is parked. With
 * FAULT_NONE nothing is said of it: that has been done. */
void fault_raise(cudaError_t error, enum fault_code code) __attribute__((noreturn));

/* Likewise, on account of a suspended thread. The program's place is the first of the two code
 * addresses that belongs to it; either may be null. `more` is printed behind the words; it may be
 * empty. */
void fault_raise_at(cudaError_t error, enum fault_code code, const char *more, struct uint3 thread,
                    const void *address, const void *second_address) __attribute__((noreturn));

/* Notes where a worker is in its kernel, for fault_report_limit. It goes on. */
void fault_see_worker(const struct worker *worker);

/* Parks workers wherever they are in a kernel. One inside a library, which may hold a lock there,
 * is asked again a number of times, and then left to run; but what it prints is held back. */
void fault_stop_workers(struct worker *const *workers, int count);

/* Code addresses from here outwards, at most `most`; those of calls lie inside the call. */
int fault_backtrace(void **frames, int most);

/* Until it is called with a count of 0, these are what fault_backtrace() gives: the call comes from
 * another process, out of these frames. */
void fault_called_from(void *const *frames, int count);

/* The message that is printed to stderr next begins on a line of its own: stdout may end in the
 * middle of one. */
void fault_begin_message(void);

/* A fault as it is reported. */
struct fault {
    struct fault_facts facts; /* FAULT_NONE: printed already */
    cudaError_t error;
    const char *what; /* the same in words, with advice behind them; null: printed already */
    bool kernel;      /* block and thread are known */
    struct uint3 block, thread;
    struct place place;
    const void *address; /* that was accessed, if has_address */
    bool has_address;
};

/* Faults are passed to `handle` instead of being printed; one whose `what` is null was printed. */
void fault_handle(void (*handle)(const struct fault *fault));

/* Reports the first fault of a launch, with its place, and gives its error code. */
cudaError_t fault_report(void);

/* Reports that a launch reached a limit, after so many seconds, and where it was then: in a block
 * that had been running for block_seconds, and does not end; 0: in one block after the other. */
void fault_report_limit(const struct launch *launch, double block_seconds, double seconds);

/* --- error.c ---------------------------------------------------------------------------------- */

/* What may be done with errors; the functions below and two of CUDA's do so. */
enum error_call { ERROR_SET, ERROR_STICKY, ERROR_SURFACE, ERROR_GET_LAST, ERROR_PEEK };
cudaError_t error_call(enum error_call call, cudaError_t error);

/* Remembers an error for cudaGetLastError, and returns it. */
cudaError_t error_set(cudaError_t error);

/* Likewise, of a launch that is refused. */
void error_set_by_launch(cudaError_t error);

/* A call of host code's that failed. */
struct failed_call {
    bool is_kernel, is_launch; /* a kernel's fault, which has no call; a launch that was refused */
    struct place place;
};

/* The first error since cudaGetLastError() was called, or else a kernel's fault, and which call it
 * is of. cudaSuccess: none. */
cudaError_t error_first(struct failed_call *call);

/* "cudaMemcpy failed", without the place. */
void failed_call_describe(const struct failed_call *call, char *text, size_t bytes);

/* A kernel's fault: the context is lost, every later call returns this error. */
void error_set_sticky(cudaError_t error);
cudaError_t error_sticky(void);

/* For calls that synchronize: shows a kernel's fault to the caller and to cudaGetLastError. */
cudaError_t error_surface(void);

/* --- the device, elsewhere -------------------------------------------------------------------- */

/* The device of another process: this one runs host code alone, and what changes the device, its
 * memory or its errors is asked of that process. */
struct far_device {
    cudaError_t (*allocate)(void **pointer, size_t bytes);
    cudaError_t (*release)(void *pointer);
    cudaError_t (*copy)(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                        size_t width, size_t height, enum cudaMemcpyKind kind);
    cudaError_t (*set)(void *pointer, size_t pitch, int value, size_t width, size_t height);
    cudaError_t (*copy_to_symbol)(void *to, const void *from, size_t bytes);
    cudaError_t (*set_attribute)(const void *kernel, enum cudaFuncAttribute attribute, int value);
    void (*launch)(const struct launch *launch);
    cudaError_t (*error)(enum error_call call, cudaError_t error);
};
extern const struct far_device *far_device; /* null: this process has the device itself */

/* --- the observer ----------------------------------------------------------------------------- */

/* Called at what a run does. In the plain build there is no observer. The first three are called on
 * the host's thread that launches, and those in the middle on a worker, for its running block. */
struct observer {
    void (*launch_begins)(const struct launch *launch);
    void (*launch_ended)(const struct launch *launch);
    void (*launch_refused)(const struct launch *launch, cudaError_t error);
    /* Behind launch_begins: launch->only. */
    const struct block_runs *(*choose_blocks)(const struct launch *launch);
    void (*out_of_memory)(const char *what); /* this machine's, not a kernel's fault */

    void (*block_begins)(const struct launch *launch, uint64_t index);
    void (*block_ended)(void);
    void (*thread_begins)(void); /* the running thread, on its stack */
    void (*barrier_reached)(const void *code, unsigned place); /* by the running thread */
    void (*barrier_opens)(void); /* all that have not returned are there */
    void (*thread_returned)(unsigned linear);
    void (*uses_old)(void);   /* the running thread: the result of the exchange that follows */
    void (*warp_parts)(void); /* the running thread comes to an operation of some lanes of a warp */
    void (*warp_met)(unsigned warp, unsigned mask);      /* its lanes that have not returned */
    void (*copy_begins)(const struct async_copy *copy);  /* by the running thread, of which ... */
    void (*copy_arrived)(const struct async_copy *copy); /* ... one is in shared memory now */

    void (*allocated)(char *begin, size_t bytes, bool on_device);
    void (*freed)(char *begin);
    /* Into device memory, by cudaMemcpy; or, `from` being null, cudaMemset. */
    void (*copied)(char *to, const char *from, size_t bytes, bool to_symbol);
    void (*failed)(cudaError_t error); /* a call of the host's */
    /* What cudaGetLastError or ...Peek... gave. */
    void (*looked)(cudaError_t error, bool forgotten);
    void (*fault)(const struct fault *fault); /* instead of printing it */
    /* A worker's signal, in a handler of it; true: the worker goes on. */
    bool (*faulted)(int number, const void *address, void *context);
};
extern const struct observer *observer;
/* For the observer: pointers of each worker's own, the second for what it does often. Not shared
 * memory. */
extern __thread void *observer_worker, *observer_fast;

/* --- device.c --------------------------------------------------------------------------------- */

/* CPUs this process may use. */
int cpu_count(void);

/* Whether there is this stream: the default one, or one that was made and not destroyed. */
bool stream_exists(cudaStream_t stream);

/* Whether a kernel's static and dynamic shared memory together are within what it may have. */
cudaError_t function_check_shared(const void *kernel, size_t dynamic_bytes);

#endif
