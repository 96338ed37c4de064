/* The walkthrough's page, as page.c writes it around its data. */
        .section .rodata
        .global walk_page_text
walk_page_text:
        .incbin "build/check/walk.html"
        .byte 0
        .section .note.GNU-stack, "", %progbits
