/* The walkthrough's page, as page.c puts it together: checker.mk defines the files' names. */
        .section .rodata
        .macro file name, path
        .global \name, \name\()_end
\name:
        .incbin "\path"
\name\()_end:
        .byte 0
        .endm
        file walk_template, "checker/walk/page.html"
        file walk_style, "build/check/walk.css"
        file walk_script, "build/check/walk.js"
        .section .note.GNU-stack, "", %progbits
