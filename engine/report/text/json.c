/* JSON: a writer that places commas and quotes strings, so that no program does that by hand. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
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

/* The comma before a member or element, and its name. */
static void begin_value(struct json *json, const char *name) {
    if (json->comma) fputs(", ", json->out);
    json->comma = true;
    if (!name) return;
    json_string(json->out, name);
    fputs(": ", json->out);
}

void json_open(struct json *json, const char *name, char bracket) {
    begin_value(json, name);
    fputc(bracket, json->out);
    json->comma = false;
}

void json_close(struct json *json, char bracket) {
    fputc(bracket, json->out);
    json->comma = true;
}

void json_text(struct json *json, const char *name, const char *text) {
    begin_value(json, name);
    if (text && *text)
        json_string(json->out, text);
    else
        fputs("null", json->out);
}

void json_value(struct json *json, const char *name, const char *format, ...) {
    begin_value(json, name);
    va_list arguments;
    va_start(arguments, format);
    vfprintf(json->out, format, arguments);
    va_end(arguments);
}

void json_unsigned(struct json *json, const char *name, uint64_t count) {
    json_value(json, name, "%" PRIu64, count);
}

void json_real(struct json *json, const char *name, double value) {
    begin_value(json, name);
    if (isfinite(value))
        fprintf(json->out, "%.17g", value);
    else
        fputs(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"", json->out);
}

void json_real_if(struct json *json, const char *name, bool known, double value) {
    if (known)
        json_real(json, name, value);
    else
        json_text(json, name, NULL);
}

void json_extent(struct json *json, const char *name, const unsigned extent[3]) {
    json_value(json, name, "[%u, %u, %u]", extent[0], extent[1], extent[2]);
}

void json_text_lines(struct json *json, const char *name, const char *lines) {
    json_open(json, name, '[');
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        begin_value(json, NULL);
        write_string(json->out, lines, length);
        lines += length + (lines[length] == '\n');
    }
    json_close(json, ']');
}

void json_string(FILE *out, const char *text) { write_string(out, text, strlen(text)); }
