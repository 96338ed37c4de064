/* What the program was built from: the submission's name, a zero byte, and its text, as the
 * Makefile has put them into the file KERNEL_SOURCE, which
 * source.c compares; and LAB, if make was given one. */
#ifndef LAB
#define LAB ""
#endif
        .section .rodata
        .global kernel_source, kernel_source_end, kernel_lab
kernel_source:
        .incbin KERNEL_SOURCE
kernel_source_end:
        .byte 0
kernel_lab:
        .asciz LAB
        .section .note.GNU-stack, "", %progbits
