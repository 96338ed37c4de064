/* The guard of a host function: kernel.sh appends one for each that kernel.cu calls. It changes
 * no register that holds an argument, and leaves the stack as it is.
 *
 * And, where the compiler can be told to make indirect calls and jumps through a function, that
 * function for each register: a kernel may jump to a function of kernel.cu's and nowhere else. */
    .section .note.GNU-stack, "", %progbits
    .text

    .macro guard name
    .globl guarded_\name
    .type guarded_\name, %function
guarded_\name:
#if defined __x86_64__
    cmpq $0, %fs:observer_worker@tpoff
    jne 1f
    jmp \name@PLT
1:  leaq 2f(%rip), %rdi
    jmp checker_host_call
#elif defined __aarch64__
    mrs x16, tpidr_el0
    add x16, x16, #:tprel_hi12:observer_worker
    ldr x16, [x16, #:tprel_lo12_nc:observer_worker]
    cbnz x16, 1f
    b \name
1:  adrp x0, 2f
    add x0, x0, #:lo12:2f
    b checker_host_call
#endif
2:  .asciz "\name"
    .balign 16
    .endm

/* free and delete: host_call.c. */
    .macro frees name
    .globl guarded_\name
    .type guarded_\name, %function
guarded_\name:
#if defined __x86_64__
    jmp checker_free
#elif defined __aarch64__
    b checker_free
#endif
    .endm

#ifdef __x86_64__
    .macro thunk register
    .globl __x86_indirect_thunk_\register
    .type __x86_indirect_thunk_\register, %function
__x86_indirect_thunk_\register:
    cmpq $0, %fs:observer_worker@tpoff
    jne 1f
    jmp *%\register
1:  pushq %\register
    jmp jump_of_kernel
    .endm
    .irp register, rax, rcx, rdx, rbx, rsi, rdi, rbp, r8, r9, r10, r11, r12, r13, r14, r15
    thunk \register
    .endr

/* On the stack: where to, and the address behind the call. Keeps what may be an argument. */
jump_of_kernel:
    .irp register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
    pushq %\register
    .endr
    subq $136, %rsp
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7
    movups %xmm\number, 16*\number(%rsp)
    .endr
    movq 136+9*8(%rsp), %rdi
    movq 136+10*8(%rsp), %rsi
    call checker_jump
    .irp number, 0, 1, 2, 3, 4, 5, 6, 7
    movups 16*\number(%rsp), %xmm\number
    .endr
    addq $136, %rsp
    .irp register, r11, r10, r9, r8, rdi, rsi, rdx, rcx, rax
    popq %\register
    .endr
    ret
#endif
