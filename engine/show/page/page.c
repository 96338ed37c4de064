/* Writes the walkthrough's page, which page.sh has made, with the data in its place. */
#include "walk.h"
#include <string.h>

extern const char walk_page_text[];

/* In JSON a "<" is within a string: written like this, no text there can end the script element. */
static void write_json(FILE *out, FILE *data) {
    rewind(data);
    for (int c = getc(data); c != EOF; c = getc(data))
        if (c == '<')
            fputs("\\u003c", out);
        else
            putc(c, out);
}

bool walk_page(FILE *out, FILE *data, FILE *indices) {
    static const char mark[] = "@DATA@";
    const char *place = strstr(walk_page_text, mark);
    fwrite(walk_page_text, 1, (size_t)(place - walk_page_text), out);
    write_json(out, data);
    write_json(out, indices);
    fputc('}', out);
    fputs(place + strlen(mark), out);
    return !ferror(out) && fflush(out) == 0;
}
