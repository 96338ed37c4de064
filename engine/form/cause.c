/* A cause in words, and whether bytes are one: see cause.h. */
#define _GNU_SOURCE /* strnlen */
#include "cause.h"
#include "../report/text/json.h"
#include "../report/text/text.h"
#include "../report/words/print.h"
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define CAUSE(number, name, meaning) name,
#include "causes.def"
};

static const struct sentence_row rows[] = {
#define SENTENCE(name, what, detail, hint) {{what, detail, hint}},
#include "causes.def"
};
const struct sentence_table cause_sentences = {rows, sizeof rows / sizeof *rows};

static const struct sentence_table *table_of(const struct cause *c) {
    return c->kind < LAB_CAUSES ? &cause_sentences : &lab_lessons.sentences;
}

const char *cause_name(int kind) {
    if (kind <= CAUSE_NONE) return NULL;
    if (kind < CAUSE_FORMULA) return names[kind - 1];
    if (cause_is_formula(kind)) return lab.formulas[kind - CAUSE_FORMULA].name;
    return kind - LAB_CAUSES < lab_lessons.count ? lab_lessons.causes[kind - LAB_CAUSES] : NULL;
}

void cause_begin(struct cause *c, int kind, const char *file, int line) {
    memset(c, 0, sizeof *c);
    c->kind = kind;
    c->line = line;
    snprintf(c->file, sizeof c->file, "%.*s", (int)sizeof c->file - 1, file);
}

void cause_say_shape(const struct cause *c, char *text, size_t bytes) {
    if (c->shape.of[0])
        append(text, bytes, "(from a run with %s)", lab_shape_text(&lab, &c->shape).of);
}

void cause_say(const struct cause *c, struct finding_words *w) {
    memset(w, 0, sizeof *w);
    sentences_say(&c->said, table_of(c), w);
    if (cause_is_formula(c->kind))
        APPEND(w->what, "%s", lab.formulas[c->kind - CAUSE_FORMULA].claim);
    if (c->hint[0]) snprintf(w->hint, sizeof w->hint, "%s", c->hint);
    const size_t length = strlen(w->detail);
    if (c->shape.of[0] && length && w->detail[length - 1] != '\n') APPEND(w->detail, "\n");
    cause_say_shape(c, w->detail, sizeof w->detail);
}

static bool is_record(struct cause *c) {
    const size_t length = strnlen(c->file, sizeof c->file);
    if (!cause_name(c->kind) || !record_is_bool(&c->shows_launch)) return false;
    memset(c->hint, 0, sizeof c->hint);
    if (length == sizeof c->file || strspn(c->file, characters_of_names) != length) return false;
    for (int i = 0; i < LAB_PARAMS; i++)
        if (c->shape.of[i] < 0 || c->shape.of[i] > INT32_MAX) return false;
    return c->line >= 0 && sentences_check(&c->said, table_of(c));
}

bool cause_check(struct cause *c) {
    if (is_record(c)) return true;
    memset(c, 0, sizeof *c);
    return false;
}

void cause_json(struct json *json, const struct cause *c) {
    struct finding_words words;
    if (!c->kind) {
        json_text(json, "cause", NULL);
        return;
    }
    cause_say(c, &words);
    json_open(json, "cause", '{');
    json_said(json, cause_name(c->kind), c->file, c->line, &words);
    json_text(json, "hint", words.hint);
    json_close(json, '}');
}
