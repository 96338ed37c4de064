/* Findings on a terminal: see print.h. */
#define _GNU_SOURCE /* fileno */
#include "print.h"
#include "../text/text.h"
#include <string.h>
#include <unistd.h>

const char print_red[] = "\33[1;31m", print_bold[] = "\33[1m";

void print_headline(FILE *out, const char *file, int line, const char *style, const char *what) {
    bool color = use_color(out);
    const char *begin = color ? style : "", *end = color ? "\33[0m" : "";
    const int column = line ? fprintf(out, "%s:%d: ", file, line)
                            : fprintf(out, "%s: ", file[0] ? file : "kernel.cu");
    fputs(begin, out);
    if (isatty(fileno(out)))
        print_wrapped(column, 4, what, out);
    else
        fputs(what, out); /* for editors, one line */
    fprintf(out, "%s\n", end);
}

void print_indented(FILE *out, const char *lines) {
    while (*lines) {
        print_paragraph("    ", "", lines, out);
        lines += strcspn(lines, "\n");
        lines += *lines == '\n';
    }
}

void print_launch(FILE *out, const struct finding_launch *launch) {
    char text[LAUNCH_TEXT];
    finding_launch_say(launch, text, sizeof text);
    print_indented(out, text);
}

void print_index(FILE *out, struct finding_index i) {
    fprintf(out, i.z ? "(%u,%u,%u)" : "(%u,%u)", i.x, i.y, i.z);
}
