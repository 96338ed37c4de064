/* Launches: the checks that a GPU's driver makes, then the blocks, spread over one worker a core.
 *
 * A launch returns when its kernel is done; its errors nevertheless show where CUDA shows them:
 * an impossible configuration in cudaGetLastError, a kernel's fault at the next synchronisation.
 * A worker whose kernel faults, or is still running at the time limit, is stopped where it stands
 * and never used again: as on a GPU, the context is lost then and only the process's end helps. */
#define _GNU_SOURCE
#include "runtime.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORKER_STACK_BYTES = 1024 * 1024 }; /* thread-local shared memory lies on it, too */

extern struct dim3 blockDim, gridDim;

static struct {
    pthread_mutex_t one_launch; /* host threads take turns */
    pthread_mutex_t lock;       /* guards what follows */
    pthread_cond_t work;
    uint64_t launches; /* workers run the launch whose number they have not run yet */
    struct launch *launch;
    int busy;
    int count;
    pthread_t *threads;
    sem_t event; /* a launch has ended, or a worker is lost */
    bool lost;
    double limit_seconds;
    int limit_workers;   /* 0: none */
    bool processor_time; /* that is what limit_seconds counts */
    int launched;
    void (*seen)(const void *kernel, struct dim3 grid, struct dim3 block, size_t shared_bytes);
} pool = {.one_launch = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER};

int cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return 1;
}

void emulator_time_limit(double seconds) { pool.limit_seconds = seconds; }
void launch_limit_workers(int count) { pool.limit_workers = count; }
void launch_limit_processor_time(void) { pool.processor_time = true; }
void emulator_on_launch(void (*seen)(const void *, struct dim3, struct dim3, size_t)) {
    pool.seen = seen;
}
int launches_made(void) { return pool.launched; }

/* --- workers ---------------------------------------------------------------------------------- */

static void run_blocks(struct launch *launch) {
    for (;;) {
        if (__atomic_load_n(&launch->stop, __ATOMIC_RELAXED)) return;
        uint64_t block = __atomic_fetch_add(&launch->next_block, 1, __ATOMIC_RELAXED);
        if (block >= launch->blocks) return;
        worker_run_block(launch, block);
    }
}

static void *worker_main(void *argument) {
    uint64_t seen = 0;
    worker_attach(argument);
    fault_thread_stack();
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.launches == seen) pthread_cond_wait(&pool.work, &pool.lock);
        seen = pool.launches;
        struct launch *launch = pool.launch;
        pthread_mutex_unlock(&pool.lock);
        run_blocks(launch);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0) sem_post(&pool.event);
    }
    return NULL;
}

static bool start_worker(int index) {
    pthread_attr_t attributes;
    struct worker *worker = worker_create();
    if (!worker || pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
    int failed = pthread_create(&pool.threads[index], &attributes, worker_main, worker);
    pthread_attr_destroy(&attributes);
    return !failed;
}

/* One worker a core; fewer if the system will not give as many, but at least one. */
static bool start_pool(void) {
    if (pool.count) return true;
    int wanted = cpu_count();
    if (pool.limit_workers && wanted > pool.limit_workers) wanted = pool.limit_workers;
    pool.threads = calloc((size_t)wanted, sizeof *pool.threads);
    if (!pool.threads) return false;
    sem_init(&pool.event, 0, 0);
    fault_install();
    while (pool.count < wanted && start_worker(pool.count)) pool.count++;
    return pool.count > 0;
}

void launch_worker_lost(void) {
    __atomic_store_n(&pool.lost, true, __ATOMIC_SEQ_CST);
    sem_post(&pool.event);
}

/* --- waiting ---------------------------------------------------------------------------------- */

static struct timespec deadline_after(double seconds) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double whole = (double)(long long)seconds;
    now.tv_sec += (time_t)whole;
    now.tv_nsec += (long)((seconds - whole) * 1e9);
    if (now.tv_nsec >= 1000000000L) {
        now.tv_nsec -= 1000000000L;
        now.tv_sec++;
    }
    return now;
}

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Waits so many seconds at most for the launch's end. False: it did not come. */
static bool wait_for_event(double seconds) {
    struct timespec deadline = deadline_after(seconds);
    for (;;) {
        int failed = sem_timedwait(&pool.event, &deadline);
        if (!failed) return true;
        if (errno == ETIMEDOUT) return false;
    }
}

static bool wait_without_limit(void) {
    while (sem_wait(&pool.event) != 0) {
    }
    return true;
}

/* By processor time; a processor gives each worker a second of it per second at most. */
static bool wait_by_processor_time(void) {
    const double sleeper = 10; /* times the limit, for who uses no processor */
    double begin = seconds_of(CLOCK_MONOTONIC), used = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (;;) {
        double left = pool.limit_seconds - (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - used);
        double waited = seconds_of(CLOCK_MONOTONIC) - begin;
        if (left <= 0 || waited > sleeper * pool.limit_seconds) return false;
        if (wait_for_event(left / pool.count + 1e-3)) return true;
    }
}

/* Waits for the launch's end. False when the time limit came first. */
static bool wait_in_time(void) {
    if (pool.limit_seconds <= 0) return wait_without_limit();
    return pool.processor_time ? wait_by_processor_time() : wait_for_event(pool.limit_seconds);
}

static void stop_all(struct launch *launch) {
    __atomic_store_n(&launch->stop, true, __ATOMIC_RELAXED);
    fault_stop_workers(pool.threads, pool.count);
}

static cudaError_t run_on_pool(struct launch *launch) {
    pthread_mutex_lock(&pool.lock);
    pool.launch = launch;
    pool.busy = pool.count;
    pool.launches++;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);

    bool in_time = wait_in_time();
    if (in_time && !__atomic_load_n(&pool.lost, __ATOMIC_SEQ_CST)) return cudaSuccess;
    stop_all(launch);
    if (in_time) return fault_report();
    fault_report_timeout(pool.limit_seconds);
    return cudaErrorLaunchTimeout;
}

/* --- checks ----------------------------------------------------------------------------------- */

/* cudaErrorInvalidValue is what CUDA 13 gives (seen on an H200); up to CUDA 12 it was
 * cudaErrorInvalidConfiguration. */
static cudaError_t check(const struct launch *launch) {
    const struct uint3 *grid = &launch->grid, *block = &launch->block;
    if (!grid->x || !grid->y || !grid->z || !block->x || !block->y || !block->z)
        return cudaErrorInvalidValue;
    if (grid->x > MAX_GRID_X || grid->y > MAX_GRID_Y || grid->z > MAX_GRID_Z)
        return cudaErrorInvalidValue;
    if (block->x > MAX_BLOCK_X || block->y > MAX_BLOCK_Y || block->z > MAX_BLOCK_Z ||
        (uint64_t)block->x * block->y * block->z > MAX_BLOCK_THREADS)
        return cudaErrorInvalidValue;
    return function_check_shared(launch->kernel, launch->shared_bytes);
}

void emulator_launch(const void *kernel, struct uint3 grid, struct uint3 block, size_t shared_bytes,
                     void (*thread)(const void *data), const void *data) {
    struct launch made = {.kernel = kernel,
                          .grid = grid,
                          .block = block,
                          .blocks = (uint64_t)grid.x * grid.y * grid.z,
                          .shared_bytes = shared_bytes,
                          .thread = thread,
                          .data = data};
    if (error_sticky() != cudaSuccess) return;
    if (pool.seen)
        pool.seen(kernel, (struct dim3){grid.x, grid.y, grid.z},
                  (struct dim3){block.x, block.y, block.z}, shared_bytes);
    cudaError_t error = check(&made);
    if (error != cudaSuccess) {
        if (observer) observer->launch_refused(&made, error);
        error_set(error);
        return;
    }
    made.block_threads = block.x * block.y * block.z;
    pthread_mutex_lock(&pool.one_launch);
    pool.launched++;
    if (!start_pool()) {
        if (observer) observer->out_of_memory("no memory for the workers that run the blocks");
        error = error_set(cudaErrorMemoryAllocation);
    } else {
        blockDim = (struct dim3){block.x, block.y, block.z};
        gridDim = (struct dim3){grid.x, grid.y, grid.z};
        memory_open();
        if (observer) observer->launch_begins(&made);
        error = run_on_pool(&made);
        if (observer) observer->launch_ended(&made);
        memory_close();
        if (error != cudaSuccess) error_set_sticky(error);
    }
    pthread_mutex_unlock(&pool.one_launch);
}
