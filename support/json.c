/* JSON's strings and numbers. */
#include "shared.h"

#include <math.h>

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

void json_string(FILE *out, const char *text) {
    fputc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c;) {
        int length = utf8_length(c);
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c == '\n')
            fputs("\\n", out);
        else if (*c < 0x20 || *c == 0x7f || length == 0)
            fprintf(out, "\\u%04x", *c); /* no UTF-8: as Latin-1 */
        else
            fwrite(c, 1, (size_t)length, out);
        c += length ? length : 1;
    }
    fputc('"', out);
}

void json_number(FILE *out, double value) {
    if (isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"", out);
}
