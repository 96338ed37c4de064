/* What the program was built from: the submission's name, a zero byte, and its text, as the
 * Makefile has put them into the file KERNEL_SOURCE. source.c compares. */
        .section .rodata
        .global kernel_source, kernel_source_end
kernel_source:
        .incbin KERNEL_SOURCE
kernel_source_end:
        .byte 0
        .section .note.GNU-stack, "", %progbits
