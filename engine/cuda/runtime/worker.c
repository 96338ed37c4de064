/* A worker, the OS thread that runs one block after the other: its thread-local variables, of which
 * the running block's shared memory is a part, and which CUDA thread it runs. */
#define _GNU_SOURCE
#include "runtime.h"
#include <link.h>
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
#define RANGE(variable)                                                                            \
    { (char *)&variable, (char *)(&variable + 1) }
    struct range ours[] = {RANGE(running_index),           RANGE(blockIdx),
                           RANGE(emulator_schedule),       RANGE(this_worker),
                           RANGE(observer_worker),         RANGE(observer_fast),
                           RANGE(emulator_dynamic_shared), {block + bytes, block + bytes}};
    const size_t count = sizeof ours / sizeof *ours;
    if (!block || (char *)&running_index < block || (char *)&running_index >= block + bytes)
        return 0;
    memory->thread_local_storage = (struct range){block, block + bytes};
    qsort(ours, count, sizeof *ours, by_address);
    for (size_t i = 0; i < count; ++i) {
        if (block < ours[i].begin && memory->shared_ranges < SHARED_RANGES)
            memory->shared[memory->shared_ranges++] = (struct range){block, ours[i].begin};
        block = ours[i].end;
    }
    return 1;
}

void worker_attach(struct worker *worker) {
    this_worker = worker;
    dl_iterate_phdr(find_shared, &worker->memory);
}

/* --- fibers ------------------------------------------------------------------------------------
 *
 * One context switch: the cheapest change from one CUDA thread to another that the machine allows.
 *
 * On x86-64 and aarch64 a suspended fiber's stack pointer, frame pointer and the address where it
 * goes on are kept in its context, as ../include/barrier.h does for threads that wait at a barrier;
 * what else the calling convention says a call preserves lies on its stack. The switch ends in a
 * jump, not in a return: a return would ask the CPU's return predictor, which remembers the other
 * fiber's calls and is wrong every time (measured: eight times slower). */

#if defined __x86_64__

__asm__(".text\n"
        ".p2align 4\n"
        ".globl fiber_switch\n"
        ".type fiber_switch, @function\n"
        "fiber_switch:\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    leaq fiber_resume(%rip), %rax\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rbp, 8(%rdi)\n"
        "    movq %rax, 24(%rdi)\n"
        "    movq (%rsi), %rsp\n"
        "    movq 8(%rsi), %rbp\n"
        "    movq 16(%rsi), %rbx\n"
        "    jmpq *24(%rsi)\n"
        "fiber_resume:\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rax\n"
        "    jmpq *%rax\n"
        ".size fiber_switch, . - fiber_switch\n"
        "fiber_switch_end:\n");

enum { RETURN_ADDRESS = 5 }; /* in words above a suspended fiber's stack pointer */

/* As after a call: below a 16-byte boundary lies the return address, null for debuggers' sake. */
static void *first_stack_pointer(uintptr_t top) {
    uintptr_t *slot = (uintptr_t *)top;
    *--slot = 0;
    return slot;
}

#elif defined __aarch64__

/* x19..x30 and d8..d15 are preserved (AAPCS64). br, not ret: see above. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl fiber_switch\n"
        ".type fiber_switch, %function\n"
        "fiber_switch:\n"
        "    sub sp, sp, #144\n"
        "    stp x30, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp d8, d9, [sp, #80]\n"
        "    stp d10, d11, [sp, #96]\n"
        "    stp d12, d13, [sp, #112]\n"
        "    stp d14, d15, [sp, #128]\n"
        "    mov x9, sp\n"
        "    adr x10, fiber_resume\n"
        "    stp x9, x29, [x0]\n"
        "    stp x19, x10, [x0, #16]\n"
        "    ldp x9, x29, [x1]\n"
        "    ldp x19, x16, [x1, #16]\n"
        "    mov sp, x9\n"
        "    mov x30, xzr\n" /* a fresh fiber's entry has no caller; others do not look at it */
        "    br x16\n"
        "fiber_resume:\n"
        "    hint #36\n" /* bti j: a branch may end here */
        "    ldp x16, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp d8, d9, [sp, #80]\n"
        "    ldp d10, d11, [sp, #96]\n"
        "    ldp d12, d13, [sp, #112]\n"
        "    ldp d14, d15, [sp, #128]\n"
        "    add sp, sp, #144\n"
        "    br x16\n"
        ".size fiber_switch, . - fiber_switch\n"
        "fiber_switch_end:\n");

enum { RETURN_ADDRESS = 0 };

static void *first_stack_pointer(uintptr_t top) { return (void *)top; }

#else
#error "the CPU backend runs on x86-64 and aarch64"
#endif

extern __attribute__((visibility("hidden"))) const char fiber_resume[], fiber_switch_end[];

void fiber_create(fiber *made, void *stack, size_t bytes, void (*entry)(void)) {
    uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    *made = (fiber){.stack = first_stack_pointer(top), .code = (const void *)(uintptr_t)entry};
}

const void *fiber_return_address(const fiber *suspended) {
    const void *const *words = suspended->stack;
    return suspended->code == fiber_resume ? words[RETURN_ADDRESS] : suspended->code;
}

bool fiber_is_switching(const void *address) {
    return (uintptr_t)address >= (uintptr_t)fiber_switch &&
           (uintptr_t)address < (uintptr_t)fiber_switch_end;
}
