/* JSON's strings and numbers. */
#include "shared.h"

#include <math.h>

void json_string(FILE *out, const char *text) {
    fputc('"', out);
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c == '\n')
            fputs("\\n", out);
        else if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            fprintf(out, "\\u%04x", (unsigned char)*c); /* as Latin-1: never invalid UTF-8 */
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

void json_number(FILE *out, double value) {
    if (isfinite(value))
        fprintf(out, "%.17g", value);
    else
        fputs(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"", out);
}
