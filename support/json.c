/* JSON's strings and numbers, and what of lists and objects several programs write. */
#include "shared.h"

#include <math.h>
#include <string.h>

/* Bytes of the UTF-8 character that begins here (RFC 3629); 0 if none does. */
static int utf8_length(const unsigned char *c) {
    int length = *c < 0x80 ? 1 : *c < 0xc2 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : *c < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((c[i] & 0xc0) != 0x80) return 0;
    if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] >= 0xa0) || /* too long, surrogates */
        (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] >= 0x90))
        return 0;
    return length;
}

static void write_string(FILE *out, const char *text, size_t length) {
    const unsigned char *c = (const unsigned char *)text, *end = c + length;
    fputc('"', out);
    while (c < end) {
        int bytes = utf8_length(c);
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c == '\n')
            fputs("\\n", out);
        else if (*c < 0x20 || *c == 0x7f || bytes == 0)
            fprintf(out, "\\u%04x", *c); /* no UTF-8: as Latin-1 */
        else
            fwrite(c, 1, (size_t)bytes, out);
        c += bytes ? bytes : 1;
    }
    fputc('"', out);
}

void json_string(FILE *out, const char *text) { write_string(out, text, strlen(text)); }

void json_member(FILE *out, const char *name, const char *text) {
    json_string(out, name);
    fputs(": ", out);
    if (text && *text)
        json_string(out, text);
    else
        fputs("null", out);
}

void json_number_member(FILE *out, const char *name, double value) {
    json_string(out, name);
    fputs(": ", out);
    json_number(out, value);
}

void json_list_of_lines(FILE *out, const char *lines) {
    fputc('[', out);
    for (bool first = true; *lines; first = false) {
        size_t length = strcspn(lines, "\n");
        if (!first) fputs(", ", out);
        write_string(out, lines, length);
        lines += length + (lines[length] == '\n');
    }
    fputc(']', out);
}

void json_number(FILE *out, double value) {
    if (isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"", out);
}
