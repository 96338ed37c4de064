/* Asynchronous copies from global to shared memory (cp.async): ../include/cuda_pipeline.h calls
 * these.
 *
 * A GPU makes such a copy at any time between the call and the end of its thread's wait for it.
 * Here global memory is read at the earliest of these times, so that a wrong address is
 * reported at its line; shared memory is written at the latest. A thread that does not wait, or for
 * too few groups, finds what was there before. The pending copies of a thread that returns arrive.
 */
#define _GNU_SOURCE
#include "runtime.h"

enum {
    LARGEST = 16,         /* bytes of a copy */
    MOST_GROUPS_LEFT = 8, /* that a wait can leave: what CUDA's header makes of more */
    MOST_PENDING = 4096   /* copies of a thread: before one more begins, the oldest arrives */
};

struct copy {
    struct async_copy request;
    unsigned char bytes[LARGEST]; /* as they will arrive */
};

/* The pending copies of one thread, in the order in which they began. */
struct queue {
    struct copy *copies;
    size_t first, end, room;
    uint64_t committed; /* groups; a copy that begins now belongs to the group of this number */
};

struct copies {
    struct queue of[MAX_BLOCK_THREADS];
};

static _Noreturn void out_of_memory(void) {
    fprintf(stderr, "out of memory for asynchronous copies\n");
    abort();
}

static struct copies *copies_here(void) {
    if (!worker_in_kernel()) worker_refuse("an asynchronous copy");
    if (!this_worker->copies) this_worker->copies = calloc(1, sizeof *this_worker->copies);
    if (!this_worker->copies) out_of_memory();
    return this_worker->copies;
}

static struct queue *queue_of(struct copies *copies) { return &copies->of[running_index.linear]; }

/* --- arriving --------------------------------------------------------------------------------- */

static void arrive_first(struct queue *queue) {
    const struct copy *copy = &queue->copies[queue->first++];
    memcpy(copy->request.to, copy->bytes, copy->request.bytes);
    if (observer) observer->copy_arrived(&copy->request);
    if (queue->first == queue->end) queue->first = queue->end = 0;
}

void copies_thread_returns(struct copies *copies) {
    struct queue *queue = queue_of(copies);
    while (queue->first < queue->end) arrive_first(queue);
    queue->committed = 0;
}

void emulator_copy_wait(size_t groups_left) {
    struct queue *queue = queue_of(copies_here());
    if (groups_left > MOST_GROUPS_LEFT) groups_left = MOST_GROUPS_LEFT;
    while (queue->first < queue->end &&
           queue->copies[queue->first].request.group + groups_left < queue->committed)
        arrive_first(queue);
}

void emulator_copy_commit(void) { queue_of(copies_here())->committed++; }

uint64_t copies_committed(void) { return queue_of(copies_here())->committed; }

/* --- beginning -------------------------------------------------------------------------------- */

static struct copy *add(struct queue *queue) {
    if (queue->end - queue->first == MOST_PENDING) arrive_first(queue);
    if (queue->end == queue->room && queue->first) {
        size_t left = queue->end - queue->first;
        memmove(queue->copies, queue->copies + queue->first, left * sizeof *queue->copies);
        queue->first = 0;
        queue->end = left;
    }
    if (queue->end == queue->room) {
        queue->room = queue->room ? 2 * queue->room : 16;
        queue->copies = realloc(queue->copies, queue->room * sizeof *queue->copies);
        if (!queue->copies) out_of_memory();
    }
    return &queue->copies[queue->end++];
}

static bool lies_in(const struct range *range, const char *address) {
    return address >= range->begin && address < range->end;
}

/* What CUDA's header checks, and the hardware; with the errors that an H200 gives. */
static void refuse_copy(const char *to, const char *from, size_t bytes, size_t zeros) {
    const struct worker_memory *memory = &this_worker->memory;
    if ((bytes != 4 && bytes != 8 && bytes != LARGEST) || zeros > bytes)
        fault_raise(cudaErrorLaunchFailure, FAULT_COPY_SIZE);
    if (!lies_in(&memory->thread_local_storage, to))
        fault_raise(cudaErrorIllegalInstruction, FAULT_COPY_TO);
    if (lies_in(&memory->thread_local_storage, from) || lies_in(&memory->stacks, from))
        fault_raise(cudaErrorInvalidAddressSpace, FAULT_COPY_FROM);
}

/* Word by word, not by memcpy: a signal inside the C library ends the program (fault.c). */
static void fetch(struct copy *copy) {
    const char *from = copy->request.from, *end = from + copy->request.bytes - copy->request.zeros;
    unsigned char *to = copy->bytes;
    memset(to, 0, LARGEST);
    for (; end - from >= (ptrdiff_t)sizeof(uint32_t); from += sizeof(uint32_t)) {
        uint32_t word = *(const volatile uint32_t *)from;
        memcpy(to, &word, sizeof word);
        to += sizeof word;
    }
    while (from < end) *to++ = *(const volatile unsigned char *)from++;
}

void emulator_copy_async(void *to, const void *from, size_t bytes, size_t zeros) {
    struct queue *queue = queue_of(copies_here());
    refuse_copy(to, from, bytes, zeros);
    const struct async_copy request = {.to = to,
                                       .from = from,
                                       .bytes = (unsigned)bytes,
                                       .zeros = (unsigned)zeros,
                                       .group = queue->committed,
                                       .code = __builtin_return_address(0)};
    if (observer) observer->copy_begins(&request);
    if (((uintptr_t)to | (uintptr_t)from) % bytes != 0)
        fault_raise(cudaErrorMisalignedAddress, FAULT_COPY_MISALIGNED);
    struct copy *copy = add(queue);
    copy->request = request;
    fetch(copy);
}
