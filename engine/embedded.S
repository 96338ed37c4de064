/* A file within a program: FILE, between the symbols PROGRAM and PROGRAM_end, and a null byte behind
 * it. Empty where the file is. See host/check/programs.c, show/page/page.c and report/text/source.c. */
#define JOINED(a, b) a##b
#define END_OF(program) JOINED(program, _end)
        .section .rodata
        .global PROGRAM, END_OF(PROGRAM)
PROGRAM:
        .incbin FILE
END_OF(PROGRAM):
        .byte 0
        .section .note.GNU-stack, "", %progbits
