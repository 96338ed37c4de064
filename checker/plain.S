/* The program PLAIN (plain.c), which sgemm-check starts: see ask_plain.c. */
        .section .rodata
        .global plain_program, plain_program_end
plain_program:
        .incbin PLAIN
plain_program_end:
        .byte 0
        .section .note.GNU-stack, "", %progbits
