/* A finding for who looks at it: with a lab's words beside its own, on a terminal in at most 80
 * columns, by make check and by a program's run alike; and in JSON. */
#ifndef ENGINE_REPORT_PRINT_H
#define ENGINE_REPORT_PRINT_H
#include "../../finding.h"
#include "../text/json.h"
#include <stdio.h>

/* What a wrong result is instead, in the lab's words: beside the record of a finding, which says
 * that there are some (SLOT_EXPLAINED, SLOT_ELSEWHERE). Made where the result is judged, and never
 * by a submission's process where that is not believed. */
struct explained {
    char formula[64];     /* see explain() in support.h; empty: not known */
    bool explains_values; /* likewise */
    double products;      /* likewise; 0 without a formula */
    char claim[480];      /* what it is, without the number of elements; empty: that is not said */
    char text[1600];      /* paragraphs, separated by \n */
    char hint[300];
};

/* The words of a finding, and these behind them. */
void finding_explain(const struct finding *finding, const struct explained *explained,
                     struct finding_words *words);

/* --- on a terminal ---------------------------------------------------------------------------- */

extern const char print_red[], print_bold[];

/* "kernel.cu:12: what", in a style where there is a terminal; line 0: without it. */
void print_headline(FILE *out, const char *file, int line, const char *style, const char *what);
/* Lines that \n separates, each a paragraph of its own. */
void print_indented(FILE *out, const char *lines);
/* Nothing where there is none. */
void print_launch(FILE *out, const struct finding_launch *launch);
void print_index(FILE *out, struct finding_index index);

/* --- the members in JSON that all who print a finding have ------------------------------------ */

/* [x, y, z]; null where it is not known. */
void json_index(struct json *json, const char *name, struct finding_index index, bool known);
/* kind, what, detail, hint */
void json_words(struct json *json, const struct finding *finding,
                const struct finding_words *words);
/* name, file, line, what, detail: of what is said beside a finding. */
void json_said(struct json *json, const char *name, const char *file, int line,
               const struct finding_words *words);
/* file, line, function, access, thread, block; variable, element; other */
void json_parties(struct json *json, const struct finding *finding);
/* The member "launch". */
void json_launch(struct json *json, const struct finding_launch *launch);

#endif
