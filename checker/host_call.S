/* The guard of a host function: host_calls.sh appends one for each that kernel.cu calls. It changes
 * no register that holds an argument, and leaves the stack as it is. */
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

