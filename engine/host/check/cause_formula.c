/* A result that is wrong in one way throughout (lab.formulas): see cause_formula.h. */
#include "cause_formula.h"
#include "../../cuda/runtime/runtime.h" /* place_relative() */
#include "../../report/text/text.h"
#include "../../watch/record/trace.h"
#include "cause_say.h"

static const struct recovered *store_of(int array, const struct recovery *r) {
    for (int i = 0; i < r->count; i++)
        if (r->access[i].write && r->access[i].array == array) return &r->access[i];
    return NULL;
}

static void set_cause(struct cause *cause, int formula, const struct recovered *store,
                      uint64_t launch, int launches) {
    cause_begin(cause, CAUSE_FORMULA + formula, place_relative(store->place.file),
                store->place.line);
    if (launches > 1)
        ENGINE_SAY(DETAIL, ROW(LAST_STORE), W((int64_t)launch), W((int64_t)launches),
                   W(lab.arrays[store->array].name));
    APPEND(cause->hint, "%s", lab.formulas[formula].hint);
    cause->launch = launch;
}

bool cause_of_formula(value_decoder *decode, const struct outcome *failed, struct cause *cause) {
    static struct recovery recovery;
    const struct trace *const *traces;
    const int formula = lab_formula(&lab, failed->explained.formula);
    const int launches = trace_launches(&traces);
    cause->kind = CAUSE_NONE;
    for (int i = launches - 1; i >= 0 && formula >= 0 && !cause->kind; i--) {
        if (!recover(traces[i], decode, &recovery)) return false;
        const struct recovered *store = store_of(lab_first_output(&lab), &recovery);
        if (store) set_cause(cause, formula, store, traces[i]->launch, launches);
        recover_free(&recovery);
    }
    return true;
}
