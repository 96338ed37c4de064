/* One context switch: the cheapest change from one CUDA thread to another that the machine allows.
 *
 * On x86-64 and aarch64 a suspended fiber's stack pointer, frame pointer and the address where it
 * goes on are kept in its context, as ../include/barrier.h does for threads that wait at a barrier;
 * what else the calling convention says a call preserves lies on its stack. The switch ends in a
 * jump, not in a return: a return would ask the CPU's return predictor, which remembers the other
 * fiber's calls and is wrong every time (measured: eight times slower). */
#include "runtime.h"

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
