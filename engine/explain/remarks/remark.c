/* A remark in words: remarks.def. */
#include "../../cuda/runtime/runtime.h" /* place_relative() */
#include "../outcome.h"
#include <string.h>

static const char *const rows[] = {
#define SENTENCE(name, text) text,
#include "remarks.def"
#undef SENTENCE
};
const struct sentence_table remark_sentences = {rows, sizeof rows / sizeof *rows};

void remark_at(struct remark *remark, enum remark_kind kind, const char *file, int line) {
    memset(remark, 0, sizeof *remark);
    remark->kind = kind;
    remark->line = line;
    snprintf(remark->file, sizeof remark->file, "%.*s", (int)sizeof remark->file - 1,
             place_relative(file));
}

const char *remark_name(enum remark_kind kind) {
    static const char *const names[REMARKS] = {
        NULL,          "naive-loads",      "uncoalesced",   "bank-conflicts",
        "idle-phases", "unneeded-barrier", "surplus-blocks"};
    return names[kind];
}

void remark_say(const struct remark *r, struct finding_words *w) {
    memset(w, 0, sizeof *w);
    finding_launch_say(&r->launch, w->detail, sizeof w->detail);
    sentences_say(&r->said, &remark_sentences, w);
}
