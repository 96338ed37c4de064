/* A finding on a terminal, in at most 80 columns: by make check and by a program's run alike. */
#ifndef ENGINE_REPORT_PRINT_H
#define ENGINE_REPORT_PRINT_H
#include "../../finding.h"
#include <stdio.h>

extern const char print_red[], print_bold[];

/* "kernel.cu:12: what", in a style where there is a terminal; line 0: without it. */
void print_headline(FILE *out, const char *file, int line, const char *style, const char *what);
/* Lines that \n separates, each a paragraph of its own. */
void print_indented(FILE *out, const char *lines);
/* Nothing where there is none. */
void print_launch(FILE *out, const struct finding_launch *launch);
void print_index(FILE *out, struct finding_index index);

#endif
