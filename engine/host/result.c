/* From a wrong C to a finding. */
#include "../report/text.h"
#include "check.h"
#include <inttypes.h>

static void say_unwritten(struct finding *f, const struct verdict *v, uint64_t elements) {
    const struct box *box = &v->unwritten_box;
    APPEND(f->what, "%" PRIu64 " of the %" PRIu64 " elements of C %s never written", v->unwritten,
           elements, is_or_are(v->unwritten));
    APPEND(f->detail, "in rows %d to %d, columns %d to %d", box->row_first, box->row_last,
           box->col_first, box->col_last);
}

static void say_wrong(struct finding *f, const struct verdict *v, uint64_t elements) {
    const struct wrong_element *first = &v->first[0];
    APPEND(f->what, "%" PRIu64 " of the %" PRIu64 " elements of C %s wrong", v->wrong, elements,
           is_or_are(v->wrong));
    if (v->first_count)
        APPEND(f->detail, "the first: C[%d][%d] is %.9g, and should be %.9g", first->row,
               first->col, (double)first->got, first->expected);
}

static void say_not_float32(struct finding *f, const struct verdict *v) {
    APPEND(f->what, "C is less precise than float32 arithmetic makes it");
    APPEND(f->detail, "errors of up to %.0f units in the last place, root mean square %.1f",
           v->max_error_u, v->rms_error_u);
}

/* What C is instead; the first explanation covers most. */
static void add_explanations(struct finding *f, const struct lab_case *which,
                             const void *const arrays[LAB_ARRAYS], const struct verdict *verdict) {
    struct explanation explanations[EXPLANATIONS];
    int count = lab_truth.explain(which, arrays, verdict, explanations);
    if (count && f->kind == FINDING_UNWRITTEN) f->detail[0] = '\0'; /* said better */
    for (int i = 0; i < count; i++)
        APPEND(f->detail, "%s%s", f->detail[0] ? "\n" : "", explanations[i].text);
    APPEND(f->hint, "%s", count ? explanations[0].hint : finding_text(f->kind)->hint);
    if (count) APPEND(f->formula, "%s", explanations[0].formula);
    if (!count) return;
    f->explains_values = explanations[0].explains_values;
    f->products = explanations[0].products;
}

bool judge_verdict(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                   const struct verdict *verdict, struct finding *f) {
    const uint64_t elements = lab_outputs(&lab, &which->shape);
    if (verdict->passed) return false;
    f->kind = verdict->unwritten && verdict->unwritten >= verdict->wrong ? FINDING_UNWRITTEN
              : verdict->wrong                                           ? FINDING_WRONG_RESULT
                                                                         : FINDING_NOT_FLOAT32;
    if (f->kind == FINDING_UNWRITTEN)
        say_unwritten(f, verdict, elements);
    else if (f->kind == FINDING_WRONG_RESULT)
        say_wrong(f, verdict, elements);
    else
        say_not_float32(f, verdict);
    add_explanations(f, which, arrays, verdict);
    return true;
}
