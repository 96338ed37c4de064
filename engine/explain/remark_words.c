/* A remark in words: remarks.def. */
#include "remark.h"
#include <string.h>

static const char *const rows[] = {
#define SENTENCE(name, text) text,
#include "remarks.def"
#undef SENTENCE
};
const struct sentence_table remark_sentences = {rows, REMARK_SENTENCES};

const char *remark_name(enum remark_kind kind) {
    static const char *const names[REMARKS] = {
        NULL, "naive-loads", "uncoalesced", "bank-conflicts", "unneeded-barrier", "surplus-blocks"};
    return names[kind];
}

void remark_say(const struct remark *r, struct finding_words *w) {
    memset(w, 0, sizeof *w);
    finding_launch_say(&r->launch, w->detail, sizeof w->detail);
    sentences_say(&r->said, &remark_sentences, SENTENCE_WHAT, w->what, sizeof w->what);
    sentences_say(&r->said, &remark_sentences, SENTENCE_DETAIL, w->detail, sizeof w->detail);
}
