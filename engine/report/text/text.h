/* Text: paragraphs on a terminal, endings of words, buffers that are filled piece by piece, and
 * characters; and the time on the wall. */
#ifndef ENGINE_REPORT_TEXT_TEXT_H
#define ENGINE_REPORT_TEXT_TEXT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { MESSAGE_SIZE = 240 }; /* room for any message of one line */

/* Whether to print in color there: on a terminal that has it, unless NO_COLOR is set. */
bool use_color(FILE *out);

/* In columns: 80, or as many as the terminal has, if that is less. */
int text_width(FILE *out);

/* What is printed to files from now on is copied there, and is to fit. */
void text_fit(FILE *out);

/* One paragraph, up to a newline, in lines of at most 80 columns, or as many as the terminal has;
 * further lines are indented as far as `first` is long. */
void print_paragraph(const char *indent, const char *first, const char *text, FILE *out);

/* Its words alone, behind so many columns; further lines are indented by `margin`. */
void print_wrapped(int column, int margin, const char *text, FILE *out);

/* Endings and verbs of "1 element is", "2 elements are". */
static inline const char *plural(uint64_t count) { return count == 1 ? "" : "s"; }
static inline const char *is_or_are(uint64_t count) { return count == 1 ? "is" : "are"; }
static inline const char *was_or_were(uint64_t count) { return count == 1 ? "was" : "were"; }

/* A count for people: 1234, and 12,345 from five digits on. */
struct grouped {
    char text[32];
};
struct grouped grouped(uint64_t count);

/* "all 1156 elements", "1 of the 1156 elements", "the one element". */
struct how_many {
    char text[64];
};
struct how_many how_many(uint64_t count, uint64_t of);

/* In front of the i-th word of a list of so many: "a, b and c". */
static inline const char *list_separator(int i, int count) {
    return i == 0 ? "" : i + 1 < count ? ", " : " and ";
}

/* A file's name as seen from the working directory: the part of `file` that says so. */
const char *path_from_here(const char *file);

/* Where this line of a text begins, from 1; null: it has none such, or there is no text. */
const char *text_line(const char *text, int line);

/* Adds to the end of a text, as far as there is room in its `size` bytes. */
void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define APPEND(array, ...) append(array, sizeof(array), __VA_ARGS__)

/* Seconds from some fixed moment; only differences mean something. */
double clock_seconds(void);

/* What texts of another process may hold: no control character, no quote that a shell or a page
 * takes for one of its own, nothing outside of ASCII. Of a word; of a name, of a function or a file
 * as well; of a condition or an index. */
extern const char characters_of_words[], characters_of_names[], characters_of_conditions[];

#ifdef __cplusplus
}
#endif
#endif
