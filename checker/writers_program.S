/* The program WRITERS (writers_program.c), which sgemm-check starts: see ask_writers.c. */
        .section .rodata
        .global writers_program, writers_program_end
writers_program:
        .incbin WRITERS
writers_program_end:
        .byte 0
        .section .note.GNU-stack, "", %progbits
