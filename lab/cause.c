/* Which mistake it is: the rules in their order. See cause.h. */
#include "cause.h"
#include "../engine/report/numbers.h"
#include "../engine/report/source.h"
#include <stdio.h>
#include <string.h>

/* A is m x k, B k x n, C m x n. */
const enum size cause_columns[] = {SIZE_K, SIZE_N, SIZE_N};
const enum size cause_rows[] = {SIZE_M, SIZE_K, SIZE_M};

/* --- what an SGEMM accesses ------------------------------------------------------------------- */

static void set_view(struct view *view, const struct situation *s, const struct recovered *access,
                     const struct index_formula *formula, unsigned varied, int matrix) {
    const bool alone = !view->access;
    if (view->access) view->alone = false;
    if (view->access && view->access->count >= access->count) return;
    view->alone = alone;
    view->access = access;
    view->formula = formula;
    view->varied = varied;
    view->layout = layout_of(formula, s->size, SIZES, (int)cause_columns[matrix]);
}

/* Of several accesses of one kind the most frequent is looked at: what comes before a loop, or
 * behind it, is a part of the whole only. */
static void find_views(struct situation *s) {
    for (int i = 0; i < s->recovery->count; i++) {
        const struct recovered *a = &s->recovery->access[i];
        if (!a->write && a->exact && a->array < MATRIX_OF_C)
            set_view(&s->load[a->array], s, a, &a->formula, a->varied, a->array);
        if (!a->write && a->source_exact && a->source < MATRIX_OF_C)
            set_view(&s->use[a->source], s, a, &a->source_formula, a->source_varied, a->source);
        if (a->write && a->exact && a->array == MATRIX_OF_C)
            set_view(&s->store, s, a, &a->formula, a->varied, MATRIX_OF_C);
    }
    for (int i = 0; i < 2; i++)
        if (!s->use[i].access) s->use[i] = s->load[i];
}

/* --- how far an index runs -------------------------------------------------------------------- */

void cause_limits(const struct situation *s, const struct recovered *a, const unsigned grid[3],
                  int most[INDEX_VARIABLES]) {
    const struct trace *t = s->recovery->trace;
    for (int i = 0; i < 3; i++) {
        most[INDEX_THREAD_X + i] = (int)t->block[i] - 1;
        most[INDEX_BLOCK_X + i] = (int)grid[i] - 1;
    }
    most[INDEX_PHASE] = a->phases - 1;
    most[INDEX_STEP] = a->steps - 1;
}

static long long most_of_term(const struct index_term *term, const int most[INDEX_VARIABLES]) {
    long long digits = most[term->variable] >> term->shift;
    const long long all = (1ll << term->bits) - 1;
    if (term->bits && digits > all) digits = all;
    return term->coefficient > 0 ? term->coefficient * digits : 0;
}

long long cause_extent(const struct part *part, const int most[INDEX_VARIABLES],
                       unsigned variables) {
    long long last = 0;
    for (int i = 0; i < part->terms; i++)
        if (variables >> part->term[i].variable & 1) last += most_of_term(&part->term[i], most);
    return last + 1;
}

bool cause_may_loop_over_tiles(void) { return !source_text() || strstr(source_text(), "gridDim"); }

/* --- words ------------------------------------------------------------------------------------ */

const char *cause_name(enum cause_kind kind) {
    static const char *const names[] = {
        [CAUSE_NONE] = NULL,
#define CAUSE(name, kind, meaning) [CAUSE_##name] = kind,
#include "causes.def"
#undef CAUSE
    };
    return names[kind];
}

static void begin(struct cause *cause, enum cause_kind kind, const char *file, int line) {
    memset(cause, 0, sizeof *cause);
    cause->kind = kind;
    cause->line = line;
    snprintf(cause->file, sizeof cause->file, "%.*s", (int)sizeof cause->file - 1,
             place_relative(file));
}

void cause_at_access(struct cause *cause, enum cause_kind kind, const struct recovered *access) {
    begin(cause, kind, access->place.file, access->place.line);
}

void cause_at_launch(struct cause *cause, enum cause_kind kind, const struct situation *s) {
    const struct finding_launch *launch = &s->failed->finding.launch;
    begin(cause, kind, launch->file, launch->line);
}

const char *cause_array_name(const struct situation *s, int array) {
    return recover_array_name(s->recovery, array);
}

struct cause_phrase cause_access(const struct situation *s, const struct cause *cause,
                                 const struct recovered *a) {
    struct cause_phrase p = {""};
    if (a->place.line != cause->line) APPEND(p.text, "line %d ", a->place.line);
    APPEND(p.text, "%s ", a->write ? "stores to" : "loads");
    recover_write(p.text, sizeof p.text, s->recovery, a, s->size, SIZES);
    return p;
}

/* --- the order -------------------------------------------------------------------------------- */

/* What is passed to the kernel comes before what it makes of that; what decides which element an
 * access means, before whether it is left out. */
static cause_rule *const rules[] = {
    cause_matrices_exchanged,
    cause_sizes_exchanged,
    cause_launch_exchanged,
    cause_row_length,
    cause_block_shape,
    cause_steps,
    cause_block_exchanged,
    cause_grid,
    cause_constant,
    cause_thread_exchanged,
    cause_phase,
    cause_guard,
    cause_some_phases,
    cause_loop_count,
    cause_tile_not_stored,
    cause_store_in_loop,
    cause_sum,
};

bool cause_is_asked(enum finding_kind kind) {
    const struct finding_kind_text *text = finding_text(kind);
    return text && text->cause == FINDING_CAUSE_MAYBE;
}

/* A race on a tile has no other cause here than a block that does not fit it; no condition makes
 * two threads store one element; and where C is A B plus or times a number, the right elements are
 * multiplied. */
static bool explains(cause_rule *rule, const struct finding *f) {
    if (f->kind == FINDING_SHARED_RACE) return rule == cause_block_shape;
    if (f->kind == FINDING_GLOBAL_RACE && rule == cause_guard) return false;
    if (strcmp(f->formula, "offset") == 0 || strcmp(f->formula, "factor") == 0)
        return rule == cause_sum;
    return true;
}

/* Behind the facts: numbers in them are of this run, not of the one that went wrong. */
static void say_shape(struct cause *cause, struct shape shape) {
    const size_t length = strlen(cause->detail);
    if (length && cause->detail[length - 1] != '\n') CAUSE_DETAIL("\n");
    CAUSE_DETAIL("(from a run with %s)", lab_shape_text(&lab, &shape).of);
}

void cause_find(const struct recovery *recovery, struct shape shape, const struct outcome *failed,
                struct cause *cause) {
    struct situation s = {
        .shape = shape,
        .size = {{"m", shape_size(&shape, PARAM_M)},
                 {"n", shape_size(&shape, PARAM_N)},
                 {"k", shape_size(&shape, PARAM_K)}},
        .recovery = recovery,
        .failed = failed,
    };
    const struct finding *f = &failed->finding;
    const bool asked = cause_is_asked(f->kind) && !recovery->trace->later_launches;
    bool found = false;
    find_views(&s);
    for (size_t i = 0; i < LENGTH(rules) && asked && !found; i++)
        found = explains(rules[i], f) && rules[i](&s, cause);
    if (!found) cause->kind = CAUSE_NONE;
    if (found && !cause->shows_launch) say_shape(cause, shape);
}
