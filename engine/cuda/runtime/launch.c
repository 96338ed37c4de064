/* Launches: the checks that a GPU's driver makes, then the blocks, spread over one worker a core.
 *
 * A launch returns when its kernel is done; its errors nevertheless show where CUDA shows them:
 * an invalid configuration in cudaGetLastError, a kernel's fault at the next synchronization.
 * A worker whose kernel faults, or is still running at the time limit, is stopped where it is and
 * never used again: as on a GPU, the context is lost then and only the process's end helps.
 *
 * Blocks that end one after the other are a slow kernel, however many there are; one block that
 * runs too long is a kernel that does not end. So a block has a time limit, and the launch another.
 */
#define _GNU_SOURCE
#include "runtime.h"
#include <errno.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

enum {
    WORKER_STACK_BYTES = 1024 * 1024, /* thread-local shared memory lies on it, too */
    LOOKS = 16                        /* at the workers, within a block's time limit */
};

static struct {
    pthread_mutex_t one_launch; /* host threads take turns */
    pthread_mutex_t lock;       /* guards what follows */
    pthread_cond_t work_to_do;
    uint64_t launches; /* workers run the launch whose number they have not run yet */
    struct launch *launch;
    int busy;
    int count;
    struct worker **workers;
    sem_t event; /* a launch has ended, or a worker has faulted */
    bool running;
    struct time_limits limits;
    int limit_workers; /* 0: none */
    uint64_t alone;    /* launches of so many threads at most run on the first worker */
    int launched;
    void (*seen)(const void *kernel, struct dim3 grid, struct dim3 block, size_t shared_bytes);
    uint64_t work;
} pool = {.one_launch = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .work_to_do = PTHREAD_COND_INITIALIZER};

void launch_limit_time(const struct time_limits *limits) { pool.limits = *limits; }
void launch_limit_block(double block_seconds) {
    double limit;
    __atomic_load(&pool.limits.block_seconds, &limit, __ATOMIC_RELAXED);
    if (block_seconds < limit)
        __atomic_store(&pool.limits.block_seconds, &block_seconds, __ATOMIC_RELAXED);
}
void emulator_time_limit(double seconds) {
    launch_limit_time(&(struct time_limits){.block_seconds = seconds, .seconds = seconds});
}
void launch_limit_workers(int count) { pool.limit_workers = count; }
void emulator_on_launch(void (*seen)(const void *, struct dim3, struct dim3, size_t)) {
    pool.seen = seen;
}
void launch_run_alone(uint64_t threads) { pool.alone = threads; }
int launches_made(void) { return pool.launched; }
uint64_t launches_work(void) { return pool.work; }
bool launch_is_running(void) { return __atomic_load_n(&pool.running, __ATOMIC_RELAXED); }

/* --- workers ---------------------------------------------------------------------------------- */

/* Whether a block is to run; *at is its worker's place in launch->only, whose blocks come in order.
 */
static bool is_chosen(const struct launch *launch, uint64_t block, size_t *at) {
    const struct block_runs *only = launch->only;
    if (!only) return true;
    while (*at < only->count && only->run[*at].last < block) ++*at;
    return *at < only->count && only->run[*at].first <= block;
}

static void run_blocks(struct launch *launch, struct worker *worker) {
    size_t at = 0;
    while (!__atomic_load_n(&launch->stop, __ATOMIC_RELAXED)) {
        uint64_t block = __atomic_fetch_add(&launch->next_block, 1, __ATOMIC_RELAXED), work = 0;
        if (block >= launch->blocks) return;
        if (is_chosen(launch, block, &at)) {
            worker->clock = 0;
            __atomic_store_n(&worker->steps, worker->steps + 1, __ATOMIC_RELAXED);
            work = worker_run_block(launch, block);
            __atomic_store_n(&worker->steps, worker->steps + 1, __ATOMIC_RELAXED);
        }
        if (launch->noted) writers_block_ended(block, work);
        __atomic_fetch_add(&launch->blocks_ended, 1, __ATOMIC_RELAXED);
        work += __atomic_fetch_add(&launch->work, work, __ATOMIC_RELAXED);
        if (pool.limits.work && work > pool.limits.work)
            __atomic_store_n(&launch->stop, true, __ATOMIC_RELAXED);
    }
}

static void *worker_main(void *argument) {
    struct worker *worker = argument;
    uint64_t seen = 0;
    worker->tid = gettid();
    worker_attach(worker);
    fault_thread_stack();
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.launches == seen) pthread_cond_wait(&pool.work_to_do, &pool.lock);
        seen = pool.launches;
        struct launch *launch = pool.launch;
        pthread_mutex_unlock(&pool.lock);
        if (worker == pool.workers[0] || !launch->alone) run_blocks(launch, worker);
        pthread_mutex_lock(&pool.lock);
        if (--pool.busy == 0) sem_post(&pool.event);
    }
    return NULL;
}

/* Signals for the process go to the host's threads: a handler of the program is no device code. */
static bool start_worker(int index) {
    pthread_attr_t attributes;
    sigset_t of_process, before;
    struct worker *worker = pool.workers[index] = worker_create();
    if (!worker || pthread_attr_init(&attributes) != 0) return false;
    pthread_attr_setstacksize(&attributes, WORKER_STACK_BYTES);
    fault_other_signals(&of_process);
    pthread_sigmask(SIG_BLOCK, &of_process, &before);
    int failed = pthread_create(&worker->thread, &attributes, worker_main, worker);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !failed;
}

/* One worker a core; fewer if the system will not give as many, but at least one. */
static bool start_pool(void) {
    if (pool.count) return true;
    int wanted = cpu_count();
    if (pool.limit_workers && wanted > pool.limit_workers) wanted = pool.limit_workers;
    pool.workers = calloc((size_t)wanted, sizeof(struct worker *));
    if (!pool.workers) return false;
    sem_init(&pool.event, 0, 0);
    fault_install();
    fault_wake(&pool.event);
    while (pool.count < wanted && start_worker(pool.count)) pool.count++;
    return pool.count > 0;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Waits so many seconds at most for the launch's end. False: it did not come. */
static bool wait_for_event(double seconds) {
    const long long second = 1000000000;
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    const long long nanoseconds = deadline.tv_nsec + (long long)(seconds * 1e9);
    deadline.tv_sec += (time_t)(nanoseconds / second);
    deadline.tv_nsec = (long)(nanoseconds % second);
    while (sem_timedwait(&pool.event, &deadline) != 0)
        if (errno == ETIMEDOUT) return false;
    return true;
}

/* The clock that limits are counted on for this worker. */
static double seconds_of_worker(const struct worker *worker) {
    clockid_t clock = CLOCK_MONOTONIC;
    if (pool.limits.processor_time) pthread_getcpuclockid(worker->thread, &clock);
    return seconds_of(clock);
}

/* What the launch has taken so far. */
struct taken {
    double seconds;              /* of the worker that has used most */
    double block_seconds;        /* of the running block that has been running longest ... */
    const struct worker *worker; /* ... on this one */
};

static struct taken look_at_workers(bool launched) {
    struct taken taken = {.worker = pool.workers[0]};
    for (int i = 0; i < pool.count; ++i) {
        struct worker *worker = pool.workers[i];
        struct look *look = &worker->look;
        uint64_t steps = __atomic_load_n(&worker->steps, __ATOMIC_RELAXED);
        double now = seconds_of_worker(worker);
        if (launched) look->launched = now;
        if (launched || steps != look->steps) look->steps = steps, look->since = now;
        if (now - look->launched > taken.seconds) taken.seconds = now - look->launched;
        if (steps % 2 && now - look->since > taken.block_seconds)
            taken.block_seconds = now - look->since, taken.worker = worker;
    }
    return taken;
}

/* Seconds of the worker that has waited longest for a processor, because others had them; 0 where
 * the system does not say. */
static double seconds_in_queue(void) {
    unsigned long long most = 0, nanoseconds;
    for (int i = 0; i < pool.count; ++i) {
        char path[64];
        snprintf(path, sizeof path, "/proc/self/task/%d/schedstat", (int)pool.workers[i]->tid);
        FILE *file = fopen(path, "re");
        if (file && fscanf(file, "%*u %llu", &nanoseconds) == 1 && nanoseconds > most)
            most = nanoseconds;
        if (file) fclose(file);
    }
    return (double)most * 1e-9;
}

/* Whether a time limit has been reached. A kernel may sleep, and use no processor. */
static bool is_over(const struct taken *taken, double waited) {
    const struct time_limits *limits = &pool.limits;
    const double sleeper = 10; /* times the limit */
    bool sleeps = taken->seconds < limits->block_seconds;
    return taken->block_seconds >= limits->block_seconds || taken->seconds >= limits->seconds ||
           waited >= sleeper * (sleeps ? limits->block_seconds : limits->seconds);
}

/* Waits for the launch's end. False when a time limit came first. */
static bool wait_in_time(struct taken *taken) {
    const struct time_limits *limits = &pool.limits;
    const double tick = limits->block_seconds / LOOKS, begin = seconds_of(CLOCK_MONOTONIC);
    if (limits->seconds <= 0) {
        while (sem_wait(&pool.event) != 0) continue;
        return true;
    }
    double queued_before = 0; /* in earlier launches */
    *taken = look_at_workers(true);
    do {
        double left = limits->seconds - taken->seconds;
        if (wait_for_event(left > tick ? tick : left > 1e-3 ? left : 1e-3)) return true;
        *taken = look_at_workers(false);
        if (!queued_before) queued_before = seconds_in_queue();
    } while (!is_over(taken,
                      seconds_of(CLOCK_MONOTONIC) - begin - (seconds_in_queue() - queued_before)));
    return false;
}

/* A block that has been running for half of what it may, when the launch has had all of its time,
 * is one that does not end. */
static cudaError_t report_limit(const struct launch *launch, const struct taken *taken) {
    bool endless = 2 * taken->block_seconds >= pool.limits.block_seconds;
    fault_report_limit(launch, endless ? taken->block_seconds : 0, taken->seconds);
    return cudaErrorLaunchTimeout;
}

static cudaError_t run_on_pool(struct launch *launch) {
    struct taken taken = {0};
    launch->noted = pool.count == 1 && writers_launch_begins(launch);
    pthread_mutex_lock(&pool.lock);
    launch->alone = launch->blocks * launch->block_threads <= pool.alone;
    pool.launch = launch;
    pool.busy = pool.count;
    pool.launches++;
    pthread_cond_broadcast(&pool.work_to_do);
    pthread_mutex_unlock(&pool.lock);

    bool in_time = wait_in_time(&taken);
    pool.work += __atomic_load_n(&launch->work, __ATOMIC_RELAXED);
    writers_launch_ended(launch, pool.launched, in_time && !fault_happened());
    if (in_time && !fault_happened())
        return launch->blocks_ended == launch->blocks ? cudaSuccess : report_limit(launch, &taken);
    if (!in_time) fault_see_worker(taken.worker);
    __atomic_store_n(&launch->stop, true, __ATOMIC_RELAXED);
    fault_stop_workers(pool.workers, pool.count);
    return in_time ? fault_report() : report_limit(launch, &taken);
}

/* --- checks ----------------------------------------------------------------------------------- */

/* cudaErrorInvalidValue is what CUDA 13 gives (seen on an H200); up to CUDA 12 it was
 * cudaErrorInvalidConfiguration. */
static cudaError_t check(const struct launch *launch) {
    const struct uint3 *grid = &launch->grid, *block = &launch->block;
    if (!grid->x || !grid->y || !grid->z || !block->x || !block->y || !block->z ||
        grid->x > MAX_GRID_X || grid->y > MAX_GRID_Y || grid->z > MAX_GRID_Z ||
        block->x > MAX_BLOCK_X || block->y > MAX_BLOCK_Y || block->z > MAX_BLOCK_Z ||
        (uint64_t)block->x * block->y * block->z > MAX_BLOCK_THREADS)
        return cudaErrorInvalidValue;
    return function_check_shared(launch->kernel, launch->shared_bytes);
}

void emulator_launch(const void *kernel, struct uint3 grid, struct uint3 block, size_t shared_bytes,
                     cudaStream_t stream, void (*thread)(const void *copy), const void *data,
                     size_t bytes) {
    struct launch made = {.kernel = kernel,
                          .grid = grid,
                          .block = block,
                          .blocks = (uint64_t)grid.x * grid.y * grid.z,
                          .shared_bytes = shared_bytes,
                          .thread = thread,
                          .data = data,
                          .data_bytes = bytes};
    /* The launch that runs holds pool.one_launch until it ends: a kernel's own would deadlock. */
    if (worker_in_kernel()) fault_raise(cudaErrorNotSupported, FAULT_NESTED);
    if (!stream_exists(stream)) { /* on an H200 the program crashes here */
        error_set(cudaErrorInvalidResourceHandle);
        return;
    }
    if (far_device) {
        far_device->launch(&made);
        return;
    }
    if (error_sticky() != cudaSuccess) return;
    if (pool.seen)
        pool.seen(kernel, (struct dim3){grid.x, grid.y, grid.z},
                  (struct dim3){block.x, block.y, block.z}, shared_bytes);
    cudaError_t error = check(&made);
    if (error != cudaSuccess) {
        if (observer) observer->launch_refused(&made, error);
        error_set_by_launch(error);
        return;
    }
    made.block_threads = block.x * block.y * block.z;
    pthread_mutex_lock(&pool.one_launch);
    __atomic_store_n(&pool.running, true, __ATOMIC_RELAXED);
    pool.launched++;
    if (!start_pool()) {
        if (observer) observer->out_of_memory("no memory for the workers that run the blocks");
        error = error_set(cudaErrorMemoryAllocation);
    } else {
        blockDim = (struct dim3){block.x, block.y, block.z};
        gridDim = (struct dim3){grid.x, grid.y, grid.z};
        memory_open();
        if (observer) observer->launch_begins(&made);
        if (observer) made.only = observer->choose_blocks(&made);
        error = run_on_pool(&made);
        if (observer) observer->launch_ended(&made);
        memory_close();
        if (error != cudaSuccess) error_set_sticky(error);
    }
    __atomic_store_n(&pool.running, false, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool.one_launch);
}
