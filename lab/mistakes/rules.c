/* Which mistake it is: the rules in their order. See situation.h. */
#include "../../engine/report/text/numbers.h"
#include "../../engine/watch/launches.h"
#include "situation.h"
#include <string.h>

/* --- what an SGEMM accesses ------------------------------------------------------------------- */

/* Of several accesses of one kind the most frequent is looked at: what comes before a loop, or
 * behind it, is a part of the whole only. */
static void set_view(struct view *view, const struct situation *s, const struct recovered *access,
                     const struct index_formula *formula, unsigned varied, int matrix) {
    const bool alone = !view->access;
    if (view->access) view->alone = false;
    if (view->access && view->access->count >= access->count) return;
    *view = (struct view){access, layout_of(formula, s->size, SIZES, (int)cause_columns[matrix]),
                          varied, alone};
}

/* --- the order -------------------------------------------------------------------------------- */

/* What has to be so, a set. What another launch does may make up for some mistakes: none stores C
 * (ONLY_STORE); none loads A or B, either, and none that comes later stores C (WHOLE). What the
 * accesses are is KNOWN; the result is WRONG. And VALUES: the mistake changes what is stored in C,
 * and never whether it is stored.
 *
 * The launch must have come to its end, too: what is not there in one that was stopped, a further
 * access, phase or block, or another line that does the same, may only be missing. SEEN: not for
 * this rule, which concludes from what was done, or asks itself. */
enum { ONLY_STORE = 1, WHOLE = 2, KNOWN = 4, WRONG = 8, VALUES = 16, SEEN = 32 };

/* What is passed to the kernel comes before what it makes of that; what decides which element an
 * access means, before whether it is left out. */
static const struct rule {
    cause_rule *rule;
    unsigned needs;
} rules[] = {
    {cause_matrices_exchanged, VALUES},
    {cause_sizes_exchanged, 0},
    {cause_launch_exchanged, SEEN},
    {cause_row_length, 0},
    {cause_block_shape, SEEN},
    {cause_steps, VALUES | SEEN},
    {cause_store_transposed, KNOWN},
    {cause_block_exchanged, KNOWN},
    {cause_grid, ONLY_STORE},
    {cause_constant, WHOLE},
    {cause_thread_exchanged, KNOWN},
    {cause_phase, VALUES | KNOWN},
    {cause_guard, WHOLE},
    {cause_some_phases, VALUES | KNOWN},
    {cause_loop_count, WHOLE | VALUES | KNOWN},
    {cause_tile_not_stored, VALUES},
    {cause_tile_overwritten, VALUES | WRONG},
    {cause_store_in_loop, VALUES},
    {cause_tile_type, VALUES | WRONG | SEEN},
    {cause_sum, WHOLE | VALUES | KNOWN | WRONG},
};

/* --- which launch ----------------------------------------------------------------------------- */

/* Whether the launch has an access of one of these arrays. */
static bool has_access(const struct trace *t, int first, int last, bool write) {
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (a->array >= first && a->array <= last && a->write == write) return true;
    }
    return false;
}

/* Whether nothing else can be in this launch: a load that is left out may be of a copy of an input.
 */
static bool is_seen_whole(const struct trace *t) {
    const uint64_t blocks = (uint64_t)t->grid[0] * t->grid[1] * t->grid[2];
    return t->ended && t->complete && !t->others && (uint64_t)t->block_count == blocks;
}

/* What other launches do. Of some that come later nothing may be kept, or the run did not get to
 * them; of others, one that loads no input may have made room for one that does. The run that went
 * wrong may have made more, for another C. */
static void see_others(struct situation *s, const struct trace *const traces[], int count,
                       int number, bool ended) {
    const enum finding_kind kind = s->failed->finding.kind;
    const bool complete = kind == FINDING_WRONG_RESULT || kind == FINDING_UNWRITTEN;
    s->whole = ended && traces[count - 1]->launch == launches_noted() &&
               (!complete || s->failed->launches == launches_noted());
    s->only_store = s->seen_all = s->whole && (uint64_t)count == launches_noted();
    for (int i = 0; i < count; i++) {
        s->seen_all &= is_seen_whole(traces[i]);
        if (i == number) continue;
        const bool stores = has_access(traces[i], MATRIX_C, MATRIX_C, true);
        if (has_access(traces[i], MATRIX_A, MATRIX_B, false) || (stores && i > number))
            s->whole = false;
        if (stores) s->only_store = false;
    }
    s->seen_all &= s->whole;
}

/* A race on a tile has no other cause here than a block that does not fit it; and where C is A B
 * times a number, the right elements are multiplied. */
static bool is_asked(const struct situation *s, const struct rule *r) {
    const struct finding *f = &s->failed->finding;
    if (f->kind == FINDING_SHARED_RACE && r->rule != cause_block_shape) return false;
    if (slot_has(f->slot, SLOT_SUM_CHANGED) && r->rule != cause_sum) return false;
    return (r->needs & SEEN || s->recovery->trace->ended) && !(r->needs & KNOWN && !s->known) &&
           !(r->needs & WHOLE && !s->whole) &&
           !(r->needs & ONLY_STORE && !s->whole && !s->only_store) &&
           !(r->needs & WRONG && f->kind != FINDING_WRONG_RESULT) &&
           !(r->needs & VALUES && cause_is_of_stores(f));
}

/* The same launch of the run that went wrong; null: that is not known. */
static const struct finding_launch *same_launch(const struct outcome *failed, uint64_t number) {
    const struct finding_launch *of_finding = &failed->finding.launch, *found = NULL;
    struct finding_launch here;
    if (!of_finding->kernel[0] || (launches_noted() == 1 && failed->launches == 1))
        return of_finding;
    if (of_finding->number == number)
        found = of_finding;
    else if (number <= OUTCOME_LAUNCHES)
        found = &failed->launch[number - 1];
    const bool same = found && engine_find_launch(number, false, &here) &&
                      strcmp(here.kernel, found->kernel) == 0;
    return same ? found : NULL;
}

static bool find_in(struct situation *s) {
    bool found = false;
    for (EACH_ACCESS(a, s)) {
        if (a->exact && a->array < MATRIX_COUNT && a->write == (a->array == MATRIX_C))
            set_view(&s->global[a->array], s, a, &a->formula, a->varied, a->array);
        if (!a->write && a->source_exact && a->source < MATRIX_C)
            set_view(&s->use[a->source], s, a, &a->source_formula, a->source_varied, a->source);
    }
    for (int i = 0; i < 2; i++)
        if (!s->use[i].access) s->use[i] = s->load[i];
    s->known = cause_is_known(s);
    for (size_t i = 0; i < LENGTH(rules) && !found; i++)
        found = is_asked(s, &rules[i]) && rules[i].rule(s);
    if (!found) return false;
    if (!s->cause->shows_launch) s->cause->shape = s->shape;
    s->cause->launch = s->launch->number;
    return true;
}

/* In any of the launches that the run has kept: first in the one that multiplies. */
static bool find(value_decoder *decode, struct shape shape, bool ended,
                 const struct outcome *failed, struct cause *cause) {
    static struct recovery recovery;
    const struct trace *const *traces;
    const int count = trace_launches(&traces);
    const struct finding *f = &failed->finding;
    /* A finding in a kernel has its cause there, or in what the wrapper has launched it with. */
    const bool in_launch = f->at.in_kernel || f->kind == FINDING_BAD_LAUNCH;
    bool found = false;
    for (int i = 0; i < 2 * count && !found; i++) {
        const int number = i % count;
        const bool multiplies = traces[number] == trace_shown();
        struct situation s = {
            .shape = shape,
            .size = {{"m", shape_size(&shape, PARAM_M)},
                     {"n", shape_size(&shape, PARAM_N)},
                     {"k", shape_size(&shape, PARAM_K)}},
            .recovery = &recovery,
            .failed = failed,
            .cause = cause,
            .launch = same_launch(failed, traces[number]->launch),
        };
        if (multiplies != (i < count) || !s.launch) continue;
        if (in_launch && strcmp(f->launch.kernel, s.launch->kernel) != 0) continue;
        see_others(&s, traces, count, number, ended);
        if (!recover(traces[number], decode, &recovery)) return false;
        found = find_in(&s);
        recover_free(&recovery);
    }
    if (!found) cause->kind = CAUSE_NONE;
    return true;
}

const struct lab_rules lab_rules = {.find = find};
