/* A worker, the OS thread that runs one block after the other: its thread-local variables, of which
 * the running block's shared memory is a part, and which CUDA thread it runs. */
#define _GNU_SOURCE
#include "runtime.h"
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

/* The linker puts thread-local storage with initial values first, then a kernel's static shared
 * memory, then dynamic shared memory. The runtime's own variables go in front of all, so that a
 * store behind a shared array does not change which thread runs. */
__thread char emulator_dynamic_shared[SHARED_PER_BLOCK_OPTIN] __attribute__((aligned(1024)));
#define BEFORE_SHARED __attribute__((section(".tdata.runtime")))

struct emulator_thread worker_no_thread = {.barrier = EMULATOR_NO_BARRIER};
__thread struct running_index running_index __asm__("threadIdx") BEFORE_SHARED;
__thread struct uint3 blockIdx BEFORE_SHARED;
__thread struct emulator_schedule emulator_schedule = {.current = &worker_no_thread};
__thread struct worker *this_worker BEFORE_SHARED;
__thread void *observer_worker BEFORE_SHARED;
__thread void *observer_fast BEFORE_SHARED;
struct dim3 blockDim, gridDim;
const struct observer *observer;

bool worker_in_kernel(void) { return emulator_schedule.current != &worker_no_thread; }

void worker_refuse(const char *what) {
    fprintf(stderr, "%s was called by host code; only a kernel may call it\n", what);
    exit(1);
}

bool worker_where(struct uint3 *block, struct uint3 *thread) {
    if (!worker_in_kernel()) return false;
    *block = blockIdx;
    *thread = emulator_schedule.current->index;
    return true;
}

bool worker_stack_overflowed(const void *address) {
    const char *at = address;
    if (!this_worker) return false;
    const struct range stacks = this_worker->memory.stacks;
    return at >= stacks.begin && at < stacks.end &&
           (at - stacks.begin) % STACK_BYTES < sysconf(_SC_PAGESIZE);
}

/* --- shared memory ---------------------------------------------------------------------------- */

static void add_shared(struct worker_memory *memory, char *begin, char *end) {
    if (begin < end && memory->shared_ranges < SHARED_RANGES)
        memory->shared[memory->shared_ranges++] = (struct range){begin, end};
}

static int by_address(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* __shared__ variables are thread-local ones of the program: its thread-local block, less the
 * variables that the runtime keeps there, is the static shared memory. */
static int find_shared(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct worker_memory *memory = data;
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
        {(char *)&observer_fast, (char *)(&observer_fast + 1)},
        {emulator_dynamic_shared, emulator_dynamic_shared + sizeof emulator_dynamic_shared},
        {block + bytes, block + bytes},
    };
    const size_t count = sizeof ours / sizeof *ours;
    if (!block || (char *)&running_index < block || (char *)&running_index >= block + bytes)
        return 0;
    memory->thread_local_storage = (struct range){block, block + bytes};
    qsort(ours, count, sizeof *ours, by_address);
    for (size_t i = 0; i < count; ++i) {
        add_shared(memory, block, ours[i].begin);
        block = ours[i].end;
    }
    return 1;
}

void worker_attach(struct worker *worker) {
    this_worker = worker;
    dl_iterate_phdr(find_shared, &worker->memory);
}
