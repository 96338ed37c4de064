/* The mistake behind a finding, as a record and in words; cause.h has the rules that prove one. */
#ifndef LAB_MISTAKE_H
#define LAB_MISTAKE_H
#include "../../engine/lab.h"
#include "../../engine/report/words/sentences.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cause_kind {
    CAUSE_NONE,
#define CAUSE(name, ...) CAUSE_##name,
#include "causes.def"
#undef CAUSE
    CAUSES
};

enum {
#define SENTENCE(name, text) SAY_##name,
#include "sentences.def"
#undef SENTENCE
    CAUSE_SENTENCES
};
extern const struct sentence_table cause_sentences; /* sentences.def */

/* Plain data, as struct finding is. */
struct cause {
    enum cause_kind kind; /* CAUSE_NONE: none is known */
    char file[FINDING_FILE];
    int32_t line;       /* 0: unknown */
    bool shows_launch;  /* among the facts: it need not be said again */
    struct shape shape; /* of the run whose numbers the facts have; zeros: of the one that went
                           wrong */
    uint64_t launch;    /* in which it is, from 1; 0: not said */
    struct sentences said;
    char hint[300]; /* instead of one of these: what lab/verdict/explain.c asks of a wrong C; or
                       empty */
};

/* What sgemm-check tells the grader of a run. */
struct cause_answer {
    enum finding_kind finding; /* of the run; FINDING_NONE: nothing was wrong */
    struct cause cause;
};

/* "row-length"; null: CAUSE_NONE, or there is no such cause. */
const char *cause_name(enum cause_kind kind);

void cause_say(const struct cause *cause, struct finding_words *words);
/* Of the facts only that: "(from a run with m=37 k=53 n=29)"; empty: of no other. */
void cause_say_shape(const struct cause *cause, char *text, size_t bytes);

/* As finding_check(). A hint of lab/verdict/explain.c's is not believed: it is empty then. */
bool cause_check(struct cause *cause);

#ifdef __cplusplus
}
#endif

#endif
