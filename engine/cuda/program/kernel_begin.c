/* Linked right before kernel.cu's object: see extents.c. */
char kernel_data_begins = 1, kernel_bss_begins;
void kernel_text_begins(void);
void kernel_text_begins(void) {}
