/* Text for a terminal: when to use color, paragraphs of at most 80 columns, text that grows. */
#define _GNU_SOURCE /* fileno */
#include "text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool use_color(FILE *out) {
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    return isatty(fileno(out)) && !(no_color && *no_color) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

void print_paragraph(const char *indent, const char *first, const char *text, FILE *out) {
    enum { WIDTH = 80 };
    int margin = (int)(strlen(indent) + strlen(first)), column = margin;
    fprintf(out, "%s%s", indent, first);
    while (*text && *text != '\n') {
        int length = (int)strcspn(text, " \n");
        if (column > margin && column + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", margin, "");
            column = margin;
        }
        column += fprintf(out, "%s%.*s", column > margin ? " " : "", length, text);
        text += length + strspn(text + length, " ");
    }
    fputc('\n', out);
}

void append(char *text, size_t size, const char *format, ...) {
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}
