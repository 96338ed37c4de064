/* A result that is wrong in one way throughout (explain.c) was stored so, where out was stored for
 * the last time. */
#include "engine/explain/rules.h"
#include "engine/report/text/text.h"
#include "mistakes.h"
#include <string.h>

static const struct recovered *store_of_out(const struct recovery *r) {
    for (int i = 0; i < r->count; i++)
        if (r->access[i].write && r->access[i].array == ARRAY_OUT) return &r->access[i];
    return NULL;
}

static void set_cause(struct cause *cause, int mistake, const struct recovered *store,
                      uint64_t launch, int launches) {
    cause_begin(cause, LAB_CAUSES + mistake, place_relative(store->place.file), store->place.line);
    CAUSE_SAY(WHAT, sentence_number(mistake));
    if (launches > 1)
        CAUSE_SAY(DETAIL, sentence_number(SAY_LAST_STORE), sentence_number((int64_t)launch),
                  sentence_number(launches));
    cause->launch = launch;
}

static bool find(value_decoder *decode, struct shape shape, const struct outcome *failed,
                 struct cause *cause) {
    static struct recovery recovery;
    const struct trace *const *traces;
    const int count = trace_launches(&traces);
    int mistake = 0;
    (void)shape;
    while (mistake < MISTAKES && strcmp(failed->explained.formula, lab_lessons.causes[mistake]))
        mistake++;
    cause->kind = CAUSE_NONE;
    for (int i = count - 1; i >= 0 && mistake < MISTAKES && !cause->kind; i--) {
        if (!recover(traces[i], decode, &recovery)) return false;
        const struct recovered *store = store_of_out(&recovery);
        if (store) {
            set_cause(cause, mistake, store, traces[i]->launch, count);
            APPEND(cause->hint, "%s", failed->explained.hint);
        }
        recover_free(&recovery);
    }
    return true;
}

const struct lab_rules lab_rules = {.find = find};
