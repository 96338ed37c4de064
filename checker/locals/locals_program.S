/* The program that knows the local variables of kernel.cu, as ../locals_program.c starts it; empty
 * where there are none. */
        .section .rodata
        .global locals_program, locals_program_end
locals_program:
        .incbin LOCALS_PROGRAM
locals_program_end:
        .byte 0
        .section .note.GNU-stack, "", %progbits
