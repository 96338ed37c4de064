/* Sentences as data: numbers of a table's rows, with what is put into them. What proves a cause or
 * makes a remark keeps these, and who prints it makes the words. So another process's are checked:
 * a sentence that the table does not have cannot be said.
 *
 * A row says something in one or more parts of struct finding_words. It has %d for an integer, %n
 * for a count (grouped()), %s for a word (letters, digits, _) and %t for a text such as an index
 * (what finding_check() takes for a name or a condition): among the details alone, where it is
 * another process's. */
#ifndef ENGINE_REPORT_SENTENCES_H
#define ENGINE_REPORT_SENTENCES_H
#include "../../finding.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sentence_part { SENTENCE_WHAT, SENTENCE_DETAIL, SENTENCE_HINT, SENTENCE_PARTS };

enum { SENTENCES_SAID = 20, SENTENCES_NUMBERS = 48, SENTENCES_TEXT = 1600 };

struct sentences {
    int32_t count, numbers, bytes;
    int32_t row[SENTENCES_SAID];       /* of the table */
    int64_t number[SENTENCES_NUMBERS]; /* in the order in which they are said */
    char text[SENTENCES_TEXT];         /* likewise, each with its end */
};

struct sentence_table {
    const struct sentence_row {
        const char *part[SENTENCE_PARTS]; /* empty: nothing of that */
    } * rows;
    int count;
};

/* What is put into a sentence. */
struct sentence_word {
    const char *text; /* null: it is the number */
    int64_t number;
};

static inline struct sentence_word sentence_text(const char *text) {
    const struct sentence_word word = {text, 0};
    return word;
}
static inline struct sentence_word sentence_number(int64_t number) {
    const struct sentence_word word = {NULL, number};
    return word;
}
#define W(x)                                                                                       \
    _Generic((x), char *: sentence_text, const char *: sentence_text, default: sentence_number)(x)

/* Adds the sentence whose row the first word is; the others are put into it, as many as it has, in
 * the order of its parts. What has no room is left out. */
void sentences_add(struct sentences *s, const struct sentence_table *table,
                   const struct sentence_word *words);

/* The same by the row's name: SENTENCES_ADD(&said, &table, NAME, W("row"), W(3)). */
#define SENTENCES_ADD(s, table, name, ...)                                                         \
    sentences_add(s, table,                                                                        \
                  (const struct sentence_word[]){sentence_number(SAY_##name), __VA_ARGS__})

/* Whether these bytes of another process's are sentences of this table. */
bool sentences_check(struct sentences *s, const struct sentence_table *table);

/* Appends them, each to its part of the words. */
void sentences_say(const struct sentences *s, const struct sentence_table *table,
                   struct finding_words *words);

#endif
