/* Sentences as data: see sentences.h. */
#define _GNU_SOURCE /* strnlen */
#include "sentences.h"
#include "../text/text.h"
#include <inttypes.h>
#include <string.h>

/* The next conversion of a text: where it begins. False: there is none. */
static bool next(const char **at) {
    while ((*at = strchr(*at, '%')) && !((*at)[1] && strchr("dnst", (*at)[1]))) ++*at;
    return *at;
}

static bool add_word(struct sentences *s, const struct sentence_word *word) {
    const size_t length = word->text ? strlen(word->text) + 1 : 0;
    if (length > SENTENCES_TEXT - (size_t)s->bytes) return false;
    if (!word->text && s->numbers == SENTENCES_NUMBERS) return false;
    if (!word->text) s->number[s->numbers++] = word->number;
    if (word->text) memcpy(s->text + s->bytes, word->text, length);
    s->bytes += (int32_t)length;
    return true;
}

void sentences_add(struct sentences *s, const struct sentence_table *table,
                   const struct sentence_word *words) {
    struct sentences longer = *s;
    const int row = (int)words++->number;
    if (s->count == SENTENCES_SAID) return;
    longer.row[longer.count++] = row;
    for (int part = 0; part < SENTENCE_PARTS; part++)
        for (const char *at = table->rows[row].part[part]; next(&at); at += 2)
            if (!add_word(&longer, words++)) return;
    *s = longer;
}

/* How far numbers and text have been put into sentences. */
struct reader {
    int numbers;
    size_t bytes;
};

/* Appends a part of a sentence. */
static void say(const struct sentences *s, struct reader *r, const char *part, char *text,
                size_t bytes) {
    const char *from = part;
    for (const char *at = part; next(&at); from = at += 2) {
        append(text, bytes, "%.*s", (int)(at - from), from);
        if (at[1] == 'd') {
            append(text, bytes, "%" PRId64, s->number[r->numbers++]);
        } else if (at[1] == 'n') {
            append(text, bytes, "%s", grouped((uint64_t)s->number[r->numbers++]).text);
        } else {
            append(text, bytes, "%s", s->text + r->bytes);
            r->bytes += strlen(s->text + r->bytes) + 1;
        }
    }
    append(text, bytes, "%s", from);
}

void sentences_say(const struct sentences *s, const struct sentence_table *table,
                   struct finding_words *words) {
    const struct {
        char *text;
        size_t bytes;
    } to[SENTENCE_PARTS] = {[SENTENCE_WHAT] = {words->what, sizeof words->what},
                            [SENTENCE_DETAIL] = {words->detail, sizeof words->detail},
                            [SENTENCE_HINT] = {words->hint, sizeof words->hint}};
    struct reader r = {0, 0};
    for (int i = 0; i < s->count; i++)
        for (int part = 0; part < SENTENCE_PARTS; part++)
            say(s, &r, table->rows[s->row[i]].part[part], to[part].text, to[part].bytes);
}

/* Each word or text ends within what there is, and holds only what it may. */
static bool is_said(const struct sentences *s, struct reader *r, const char *part) {
    for (const char *at = part; next(&at); at += 2) {
        if (at[1] == 'd' || at[1] == 'n') {
            if (++r->numbers > s->numbers) return false;
            continue;
        }
        const char *text = s->text + r->bytes;
        const char *of = at[1] == 's' ? characters_of_words : characters_of_conditions;
        const size_t left = (size_t)s->bytes - r->bytes, length = strnlen(text, left);
        if (length == left || strspn(text, of) != length) return false;
        r->bytes += length + 1;
    }
    return true;
}

bool sentences_check(struct sentences *s, const struct sentence_table *table) {
    struct reader r = {0, 0};
    if (s->count < 0 || s->count > SENTENCES_SAID || s->numbers < 0 ||
        s->numbers > SENTENCES_NUMBERS || s->bytes < 0 || s->bytes > SENTENCES_TEXT)
        return false;
    for (int i = 0; i < s->count; i++) {
        const int row = s->row[i];
        if (row < 0 || row >= table->count) return false;
        for (int part = 0; part < SENTENCE_PARTS; part++)
            if (!is_said(s, &r, table->rows[row].part[part])) return false;
    }
    return r.numbers == s->numbers && r.bytes == (size_t)s->bytes;
}
