/* JSON, written member by member. */
#ifndef ENGINE_REPORT_JSON_H
#define ENGINE_REPORT_JSON_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A writer: places commas between the members of an object, or the elements of a list. A member has
 * a name; an element, and the outermost value, has NULL. */
struct json {
    FILE *out;
    bool comma; /* before the next value */
};

void json_open(struct json *json, const char *name, char bracket); /* '{' or '[' */
void json_close(struct json *json, char bracket);

/* A string; null where there is no text (NULL or empty). */
void json_text(struct json *json, const char *name, const char *text);

/* JSON text from a format: an integer, true, [1, 2]. */
void json_value(struct json *json, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void json_unsigned(struct json *json, const char *name, uint64_t count);

/* JSON knows neither NaN nor infinity: they become strings. */
void json_real(struct json *json, const char *name, double value);

/* The same; null where the value is not known. */
void json_real_if(struct json *json, const char *name, bool known, double value);

/* [x, y, z] */
void json_extent(struct json *json, const char *name, const unsigned extent[3]);

/* A list of strings, one for each line. */
void json_text_lines(struct json *json, const char *name, const char *lines);

/* A string without a writer; it may be empty. */
void json_string(FILE *out, const char *text);

#endif
