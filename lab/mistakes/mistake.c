/* A cause in words, and whether bytes are one: see mistake.h. */
#define _GNU_SOURCE /* strnlen */
#include "mistake.h"
#include "../../engine/report/text/characters.h"
#include "../../engine/report/text/text.h"
#include <stdio.h>
#include <string.h>

static const char *const rows[] = {
#define SENTENCE(name, text) text,
#include "sentences.def"
#undef SENTENCE
};
const struct sentence_table cause_sentences = {rows, CAUSE_SENTENCES};

const char *cause_name(enum cause_kind kind) {
    static const char *const names[CAUSES] = {
#define CAUSE(name, kind, meaning) [CAUSE_##name] = kind,
#include "causes.def"
#undef CAUSE
    };
    return (unsigned)kind < CAUSES ? names[kind] : NULL;
}

void cause_say_shape(const struct cause *c, char *text, size_t bytes) {
    if (c->shape.of[0])
        append(text, bytes, "(from a run with %s)", lab_shape_text(&lab, &c->shape).of);
}

void cause_say(const struct cause *c, struct finding_words *w) {
    memset(w, 0, sizeof *w);
    sentences_say(&c->said, &cause_sentences, SENTENCE_WHAT, w->what, sizeof w->what);
    sentences_say(&c->said, &cause_sentences, SENTENCE_DETAIL, w->detail, sizeof w->detail);
    sentences_say(&c->said, &cause_sentences, SENTENCE_HINT, w->hint, sizeof w->hint);
    APPEND(w->hint, "%s", c->hint);
    const size_t length = strlen(w->detail);
    if (c->shape.of[0] && length && w->detail[length - 1] != '\n') APPEND(w->detail, "\n");
    cause_say_shape(c, w->detail, sizeof w->detail);
}

/* Another process's bool is any byte. */
static bool is_bool(const bool *value) {
    unsigned char byte;
    memcpy(&byte, value, 1);
    return byte <= 1;
}

static bool is_record(struct cause *c) {
    const size_t length = strnlen(c->file, sizeof c->file);
    if (!cause_name(c->kind) || !is_bool(&c->shows_launch)) return false;
    memset(c->hint, 0, sizeof c->hint);
    if (length == sizeof c->file || strspn(c->file, characters_of_names) != length) return false;
    for (int i = 0; i < LAB_PARAMS; i++)
        if (c->shape.of[i] < 0 || c->shape.of[i] > INT32_MAX) return false;
    return c->line >= 0 && sentences_check(&c->said, &cause_sentences);
}

bool cause_check(struct cause *c) {
    if (is_record(c)) return true;
    memset(c, 0, sizeof *c);
    return false;
}
