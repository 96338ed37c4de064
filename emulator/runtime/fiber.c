/* One context switch: the cheapest change from one CUDA thread to another that the machine allows.
 *
 * On x86-64 and aarch64 a suspended fiber is its stack pointer; what the calling convention says a
 * call preserves lies on its stack. The switch ends in a jump, not in a return: a return would ask
 * the CPU's return predictor, which remembers the other fiber's calls and is wrong every time
 * (measured: eight times slower). Elsewhere, or with -DFIBER_PORTABLE, ucontext starts a fiber and
 * setjmp/longjmp switch, which spares ucontext's system call at every switch. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* its longjmp refuses to change stacks */
#include "runtime.h"

#if defined __x86_64__ && !defined FIBER_PORTABLE

__asm__(".text\n"
        ".p2align 4\n"
        ".globl fiber_switch\n"
        ".type fiber_switch, @function\n"
        "fiber_switch:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    popq %rax\n"
        "    jmpq *%rax\n"
        ".size fiber_switch, . - fiber_switch\n"
        "fiber_switch_end:\n");

enum { PRESERVED = 6 };

fiber fiber_create(void *stack, size_t bytes, void (*entry)(void)) {
    uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    uintptr_t *slot = (uintptr_t *)top;
    *--slot = 0; /* entry's return address: the end of the stack for a debugger or unwinder */
    *--slot = (uintptr_t)entry;
    for (int i = 0; i < PRESERVED; ++i) *--slot = 0;
    return slot;
}

const void *fiber_return_address(fiber suspended) {
    return (const void *)((uintptr_t *)suspended)[PRESERVED];
}

#elif defined __aarch64__ && !defined FIBER_PORTABLE

/* x19..x30 and d8..d15 are preserved (AAPCS64). br, not ret: see above. */
__asm__(".text\n"
        ".p2align 4\n"
        ".globl fiber_switch\n"
        ".type fiber_switch, %function\n"
        "fiber_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x16, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    mov x30, xzr\n" /* a fresh fiber's entry has no caller; others do not look at it */
        "    br x16\n"
        ".size fiber_switch, . - fiber_switch\n"
        "fiber_switch_end:\n");

enum { SAVED_BYTES = 160, SAVED_X30 = 88 };

fiber fiber_create(void *stack, size_t bytes, void (*entry)(void)) {
    uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)15;
    char *saved = (char *)(top - SAVED_BYTES);
    for (int i = 0; i < SAVED_BYTES; ++i) saved[i] = 0;
    *(uintptr_t *)(void *)(saved + SAVED_X30) = (uintptr_t)entry;
    return saved;
}

const void *fiber_return_address(fiber suspended) {
    return *(const void **)(void *)((char *)suspended + SAVED_X30);
}

#else
#define LIBRARY_SWITCHES

#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

/* A fresh fiber lies on the heap, a suspended one on its own stack. */
struct suspended {
    ucontext_t *fresh; /* null once it has run */
    jmp_buf env;
};

fiber fiber_create(void *stack, size_t bytes, void (*entry)(void)) {
    ucontext_t *context = calloc(1, sizeof *context);
    if (!context || getcontext(context) != 0) return NULL;
    struct suspended *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = bytes;
    makecontext(context, entry, 0);
    made->fresh = context;
    return made;
}

void fiber_switch(fiber *save, fiber to) {
    struct suspended here = {0}, *next = to;
    *save = &here;
    if (_setjmp(here.env) != 0) return;
    if (!next->fresh) _longjmp(next->env, 1);
    setcontext(next->fresh); /* the two blocks of a started fiber live as long as the program */
    abort();                 /* setcontext returns only if the context is broken */
}

const void *fiber_return_address(fiber suspended) {
    (void)suspended;
    return NULL;
}

#endif

bool fiber_is_switching(const void *address) {
#ifdef LIBRARY_SWITCHES
    (void)address;
    return false;
#else
    extern const char fiber_switch_end[] __attribute__((visibility("hidden")));
    return (uintptr_t)address >= (uintptr_t)fiber_switch &&
           (uintptr_t)address < (uintptr_t)fiber_switch_end;
#endif
}
