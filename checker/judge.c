/* From a wrong C to a finding. */
#include "check.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void say_unwritten(struct finding *f, const struct verdict *v, uint64_t elements) {
    const struct box *box = &v->unwritten_box;
    f->kind = FINDING_UNWRITTEN;
    snprintf(f->what, sizeof f->what,
             "%" PRIu64 " of the %" PRIu64 " elements of C are never written", v->unwritten,
             elements);
    snprintf(f->detail, sizeof f->detail, "in rows %d to %d, columns %d to %d", box->row_first,
             box->row_last, box->col_first, box->col_last);
    snprintf(f->hint, sizeof f->hint, "does the grid, rounded up, cover all of C?");
}

static void say_wrong(struct finding *f, const struct verdict *v, uint64_t elements) {
    const struct wrong_element *first = &v->first[0];
    f->kind = FINDING_WRONG_RESULT;
    snprintf(f->what, sizeof f->what, "%" PRIu64 " of the %" PRIu64 " elements of C are wrong",
             v->wrong, elements);
    if (v->first_count)
        snprintf(f->detail, sizeof f->detail, "the first: C[%d][%d] is %.9g, and should be %.9g",
                 first->row, first->col, (double)first->got, first->expected);
    snprintf(f->hint, sizeof f->hint,
             "compare by hand on a small case: ./sgemm 2 --fill index shows each element's place");
}

static void say_not_float32(struct finding *f, const struct verdict *v) {
    f->kind = FINDING_NOT_FLOAT32;
    snprintf(f->what, sizeof f->what, "C is less precise than float32 arithmetic makes it");
    snprintf(f->detail, sizeof f->detail,
             "errors of up to %.0f units in the last place, root mean square %.1f", v->max_error_u,
             v->rms_error_u);
    snprintf(f->hint, sizeof f->hint, "is a product or the sum kept in a smaller type?");
}

/* Adds a paragraph to the finding's details. */
static void add_paragraph(struct finding *f, const char *text) {
    size_t used = strlen(f->detail);
    snprintf(f->detail + used, sizeof f->detail - used, "%s%s", used ? "\n" : "", text);
}

/* What C is instead; the first explanation covers most. */
static void add_explanations(struct finding *f, const struct problem *problem,
                             const struct verdict *verdict) {
    struct explanation explanations[EXPLANATIONS];
    int count = explain(problem, verdict, explanations);
    if (count && f->kind == FINDING_UNWRITTEN) f->detail[0] = '\0'; /* said better */
    for (int i = 0; i < count; i++) add_paragraph(f, explanations[i].text);
    if (!count) return;
    snprintf(f->hint, sizeof f->hint, "%s", explanations[0].hint);
    snprintf(f->formula, sizeof f->formula, "%s", explanations[0].formula);
}

bool judge_verdict(const struct problem *problem, const struct verdict *verdict,
                   struct finding *f) {
    uint64_t elements = (uint64_t)problem->m * (uint64_t)problem->n;
    if (verdict->passed) return false;
    if (verdict->unwritten && verdict->unwritten >= verdict->wrong)
        say_unwritten(f, verdict, elements);
    else if (verdict->wrong)
        say_wrong(f, verdict, elements);
    else
        say_not_float32(f, verdict);
    add_explanations(f, problem, verdict);
    return true;
}
