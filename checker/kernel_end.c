/* Linked right behind kernel.cu's object: see program.c. */
char kernel_data_ends = 1, kernel_bss_ends;
