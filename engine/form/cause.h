/* The mistake behind a finding, as a record and in words. A run proves it: host/check/cause.c
 * one that any program can have, a lab's rules (explain/outcome.h) one of the lab's own. */
#ifndef ENGINE_REPORT_CAUSE_H
#define ENGINE_REPORT_CAUSE_H
#include "../lab.h"
#include "../report/record/sentences.h"

enum cause_kind {
    CAUSE_NONE,
#define CAUSE(name, ...) CAUSE_##name,
#include "causes.def"
    CAUSE_FORMULA,                            /* the first of lab.formulas */
    LAB_CAUSES = CAUSE_FORMULA + LAB_FORMULAS /* and of lab_lessons.causes */
};

/* Whether the mistake is what the result is instead: one of lab.formulas. */
static inline bool cause_is_formula(int kind) { return CAUSE_FORMULA <= kind && kind < LAB_CAUSES; }

/* Plain data, as struct finding is. */
struct cause {
    int32_t kind; /* CAUSE_NONE: none is known */
    char file[FINDING_FILE];
    int32_t line;      /* 0: unknown */
    bool shows_launch; /* among the facts: it need not be said again */
    /* Of the run whose numbers the facts have; zeros: of the one that went wrong. */
    struct shape shape;
    uint64_t launch; /* in which it is, from 1; 0: not said */
    struct sentences said;
    char hint[300]; /* instead of theirs: what lab_truth.explain asks of a wrong result; or empty */
};

/* What make check tells the grader about a run. */
struct cause_answer {
    enum finding_kind finding; /* of the run; FINDING_NONE: nothing was wrong */
    struct cause cause;
};

/* Begins a cause of this kind at a line. */
void cause_begin(struct cause *cause, int kind, const char *file, int line);

extern const struct sentence_table cause_sentences; /* of the engine's own: causes.def */

/* "row-length"; null: CAUSE_NONE, or there is no such cause. */
const char *cause_name(int kind);

void cause_say(const struct cause *cause, struct finding_words *words);
/* Of the facts only that: "(from a run with m=37 k=53 n=29)"; empty: of no other. */
void cause_say_shape(const struct cause *cause, char *text, size_t bytes);

/* As finding_check(). A hint of lab_truth.explain's is not believed: it is empty then. */
bool cause_check(struct cause *cause);

/* The member "cause": null, where none is proved. */
struct json;
void cause_json(struct json *json, const struct cause *cause);

#endif
