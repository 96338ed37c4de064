/* From a wrong result to a finding: see host.h. */
#include "../report/text/text.h"
#include "../report/words/print.h"
#include "host.h"

#define SET(name, value) slot_set(f->slot, SLOT_##name, (int64_t)(value))
#define SET_REAL(name, value) slot_set_real(f->slot, SLOT_##name, value)

static bool has_rows(const struct verdict *v) { return lab.arrays[v->array].dimensions > 1; }

static void set_unwritten(struct finding *f, const struct verdict *v) {
    const struct box *box = &v->unwritten_box;
    SET(COUNT, v->unwritten);
    if (has_rows(v)) {
        SET(ROW_FIRST, box->row_first);
        SET(ROW_LAST, box->row_last);
    }
    SET(COLUMN_FIRST, box->col_first);
    SET(COLUMN_LAST, box->col_last);
}

static void set_wrong(struct finding *f, const struct verdict *v) {
    const struct wrong_element *first = &v->first[0];
    SET(COUNT, v->wrong);
    if (!v->first_count) return;
    if (has_rows(v)) SET(ROW_FIRST, first->row);
    SET(COLUMN_FIRST, first->col);
    SET_REAL(GOT, first->got);
    SET_REAL(EXPECTED, first->expected);
}

static void set_not_float32(struct finding *f, const struct verdict *v) {
    SET_REAL(MAX_ERROR, v->max_error_u);
    SET_REAL(RMS_ERROR, v->rms_error_u);
}

/* What C is instead; the first explanation covers most. */
static void add_explanations(struct finding *f, const struct lab_case *which,
                             const void *const arrays[LAB_ARRAYS], const struct verdict *verdict,
                             struct explained *explained) {
    struct explanation explanations[EXPLANATIONS];
    const int count = truth_explain(which, arrays, verdict, explanations);
    if (!count) return;
    SET(EXPLAINED, 1);
    if (explanations[0].sum_changed) SET(SUM_CHANGED, 1);
    for (int i = 0; i < count; i++)
        APPEND(explained->text, "%s%s", i ? "\n" : "", explanations[i].text);
    APPEND(explained->hint, "%s", explanations[0].hint);
    APPEND(explained->claim, "%s", explanations[0].claim);
    APPEND(explained->formula, "%s", explanations[0].formula);
    explained->explains_values = explanations[0].explains_values;
    explained->products = explanations[0].products;
}

bool verdict_finding(const struct verdict *verdict, const struct shape *shape, struct finding *f) {
    if (verdict->passed) return false;
    f->kind = verdict->unwritten && verdict->unwritten >= verdict->wrong ? FINDING_UNWRITTEN
              : verdict->wrong                                           ? FINDING_WRONG_RESULT
                                                                         : FINDING_NOT_FLOAT32;
    if (f->kind == FINDING_UNWRITTEN)
        set_unwritten(f, verdict);
    else if (f->kind == FINDING_WRONG_RESULT)
        set_wrong(f, verdict);
    else
        set_not_float32(f, verdict);
    SET(OF, lab_outputs(&lab, shape));
    return true;
}

bool judge_verdict(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                   const struct verdict *verdict, struct finding *f, struct explained *explained) {
    if (!verdict_finding(verdict, &which->shape, f)) return false;
    add_explanations(f, which, arrays, verdict, explained);
    return true;
}
