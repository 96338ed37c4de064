/* Linked right behind kernel.cu's object: see extents.c. */
char kernel_data_ends = 1, kernel_bss_ends;
void kernel_text_ends(void);
void kernel_text_ends(void) {}
