/* The verdict on a lab's outputs: what any one is made of; and where the lab gives what they should
 * be (lab_truth.reference), one output after the other. Boxes, map and list are of the first one
 * with something wrong. */
#include "../lab.h"
#include "../report/element_type.h"
#include "../report/text/numbers.h"
#include "../report/text/text.h"
#include "../report/words/print.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- what any verdict is made of -------------------------------------------------------------- */

/* So large that there are at most so many cells. */
static int cell_size(int64_t size, int cells, int unit) {
    return (int)round_up(((size_t)size - 1) / (size_t)cells + 1, (size_t)unit);
}

void verdict_begin(struct verdict *v, int array, int64_t rows, int64_t cols, int cell) {
    *v = (struct verdict){.array = array,
                          .compared = (uint64_t)rows * (uint64_t)cols,
                          .wrong_box = empty_box(),
                          .unwritten_box = empty_box(),
                          .cell_rows = cell_size(rows, MAP_ROWS, cell),
                          .cell_cols = cell_size(cols, MAP_COLS, cell)};
    v->map_rows = (int)((rows - 1) / v->cell_rows + 1);
    v->map_cols = (int)((cols - 1) / v->cell_cols + 1);
}

static bool is_before(const struct wrong_element *a, const struct wrong_element *b) {
    return a->row < b->row || (a->row == b->row && a->col < b->col);
}

/* Keeps the FIRST_WRONG smallest places, in any order of arrival. */
static void first_add(struct verdict *v, struct wrong_element place) {
    int to = v->first_count;
    if (to == FIRST_WRONG && !is_before(&place, &v->first[--to])) return;
    v->first_count = to + 1;
    for (; to > 0 && is_before(&place, &v->first[to - 1]); to--) v->first[to] = v->first[to - 1];
    v->first[to] = place;
}

void verdict_note(struct verdict *v, enum element_state state, int row, int col) {
    const bool wrong = state == IS_WRONG;
    ++*(wrong ? &v->wrong : &v->unwritten);
    box_add(wrong ? &v->wrong_box : &v->unwritten_box, row, col);
    if (wrong) first_add(v, (struct wrong_element){.row = row, .col = col});
}

static void box_merge(struct box *box, const struct box *other) {
    if (other->row_first > other->row_last) return;
    box_add(box, other->row_first, other->col_first);
    box_add(box, other->row_last, other->col_last);
}

void verdict_merge(struct verdict *to, const struct verdict *from) {
    to->wrong += from->wrong;
    to->nan += from->nan;
    to->unwritten += from->unwritten;
    box_merge(&to->wrong_box, &from->wrong_box);
    box_merge(&to->unwritten_box, &from->unwritten_box);
    for (int i = 0; i < from->first_count; i++) first_add(to, from->first[i]);
    for (int i = 0; i < MAP_ROWS; i++)
        for (int j = 0; j < MAP_COLS; j++) to->map[i][j] |= from->map[i][j];
}

/* --- of a lab with a reference ---------------------------------------------------------------- */

static bool is_output(int i) { return role_is_output(lab.arrays[i].role); }

/* The arrays of a case. */
struct truth {
    const void *inputs[LAB_ARRAYS]; /* as they were before the call */
    void *filled[LAB_ARRAYS];       /* where an input is an output, too: all of them once more */
    void *right[LAB_ARRAYS];        /* as they should be; of the inputs null */
};

static void free_truth(struct truth *t) {
    for (int i = 0; i < LAB_ARRAYS; i++) free(t->filled[i]), free(t->right[i]);
}

static bool make_truth(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                       struct truth *t) {
    bool changed = false;
    for (int i = 0; i < lab_arrays(&lab); i++) changed |= lab.arrays[i].role == ROLE_IN_OUT;
    for (int i = 0; i < lab_arrays(&lab); i++) {
        const struct lab_array *array = &lab.arrays[i];
        const size_t elements = (size_t)lab_elements(array, &which->shape);
        const size_t size = element_type_bytes(array->element);
        if (is_output(i) && !(t->right[i] = calloc(elements, size))) return false;
        if (changed && role_has_values(array->role) && !(t->filled[i] = calloc(elements, size)))
            return false;
        t->inputs[i] = changed && role_has_values(array->role) ? t->filled[i] : arrays[i];
    }
    if (changed) lab_truth.fill(which, t->filled);
    lab_truth.reference(which, t->inputs, t->right);
    return true;
}

/* --- one output ------------------------------------------------------------------------------- */

struct output {
    const struct lab_case *which;
    const void *const *arrays; /* of the case, as they came back */
    const struct truth *truth;
    int number;
    enum element element;
    int64_t elements, cols; /* cols: of its last axis; what is before it are rows */
    const unsigned char *got, *right;
    size_t size; /* of an element */
};

static struct output output_of(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                               const struct truth *truth, int i) {
    const struct lab_array *array = &lab.arrays[i];
    int64_t extent[ENGINE_DIMENSIONS];
    lab_extents(array, &which->shape, extent);
    return (struct output){which,
                           arrays,
                           truth,
                           i,
                           array->element,
                           lab_elements(array, &which->shape),
                           extent[array->dimensions - 1],
                           arrays[i],
                           truth->right[i],
                           element_type_bytes(array->element)};
}

static bool is_unwritten(const struct output *o, int64_t i) {
    return poison_is_at(o->got + (size_t)i * o->size, o->size);
}

static double value_at(const struct output *o, const unsigned char *of, int64_t i) {
    double value = NAN;
    element_value(o->element, of + (size_t)i * o->size, &value);
    return value;
}

static double bound_at(const struct output *o, int64_t i) {
    return lab_truth.bound ? lab_truth.bound(o->which, o->truth->inputs, o->number, i) : 0;
}

static bool is_right(const struct output *o, int64_t i) {
    const size_t at = (size_t)i * o->size;
    if (memcmp(o->got + at, o->right + at, o->size) == 0) return true;
    const double bound = bound_at(o, i);
    return fabs(value_at(o, o->got, i) - value_at(o, o->right, i)) <= bound && bound > 0;
}

static void compare(struct verdict *v, const struct output *o) {
    struct verdict own;
    verdict_begin(&own, o->number, o->elements / o->cols, o->cols, 1);
    for (int64_t i = 0; i < o->elements; i++) {
        const enum element_state state = is_unwritten(o, i) ? IS_UNWRITTEN
                                         : is_right(o, i)   ? IS_RIGHT
                                                            : IS_WRONG;
        verdict_add(&own, state, (int)(i / o->cols), (int)(i % o->cols));
        own.nan += state == IS_WRONG && isnan(value_at(o, o->got, i));
    }
    for (struct wrong_element *e = own.first; e < own.first + own.first_count; e++) {
        const int64_t i = e->row * o->cols + e->col;
        e->got = value_at(o, o->got, i);
        e->expected = value_at(o, o->right, i);
        e->bound = bound_at(o, i);
    }
    own.compared += v->compared;
    if (v->wrong || v->unwritten)
        v->compared = own.compared; /* it has to be said of one output alone */
    else
        *v = own;
}

bool truth_verify(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                  struct verdict *v) {
    if (lab_truth.verify) return lab_truth.verify(which, arrays, v);
    struct truth truth = {0};
    *v = (struct verdict){.array = lab_first_output(&lab)};
    const bool enough = make_truth(which, arrays, &truth);
    for (int i = 0; enough && i < lab_arrays(&lab); i++) {
        const struct output o = output_of(which, arrays, &truth, i);
        if (is_output(i)) compare(v, &o);
    }
    v->exact = !lab_truth.bound;
    v->passed = !v->wrong && !v->unwritten;
    free_truth(&truth);
    return enough;
}

/* --- what a wrong output is instead ----------------------------------------------------------- */

static bool fits(const struct output *o, int formula, int64_t block) {
    for (int64_t i = 0; i < o->elements; i++) {
        const double value = lab_truth.value(
            o->which, o->truth->inputs, (const void *const *)o->truth->right, formula, block, i);
        if (!(fabs(value_at(o, o->got, i) - value) <= bound_at(o, i))) return false;
    }
    return true;
}

/* The only formula that gives all of the output; -1: there is none, or several. A block may have
 * more elements than there are. */
static int find_formula(const struct output *o, int64_t *block) {
    const int64_t widest = lab_widest(&lab, &o->which->shape);
    int found = -1, count = 0;
    for (int f = 0; f < LAB_FORMULAS && lab.formulas[f].name; f++)
        for (int64_t size = lab.formulas[f].in_blocks ? 2 : widest; size < 2 * widest; size *= 2) {
            if (!fits(o, f, size)) continue;
            found = f;
            *block = size < widest ? size : 0;
            count++;
        }
    return count == 1 ? found : -1;
}

/* `block`: 0 where it is not said, since there is only one. */
static void explain_by(const struct lab_formula *formula, int64_t block, const struct verdict *v,
                       struct explanation *out) {
    *out = (struct explanation){.explained = v->wrong, .of = v->wrong, .explains_values = true};
    APPEND(out->formula, "%s", formula->name);
    APPEND(out->claim, "%s", formula->claim);
    if (block) APPEND(out->claim, ", in blocks of %lld elements", (long long)block);
    APPEND(out->text, "%s is wrong in one way: %s.", lab.arrays[v->array].name, out->claim);
    APPEND(out->hint, "%s", formula->hint);
}

int truth_explain(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                  const struct verdict *verdict, struct explanation *out) {
    struct truth truth = {0};
    int64_t block = 0;
    int formula = -1;
    if (lab_truth.explain) return lab_truth.explain(which, arrays, verdict, out);
    if (!lab_truth.value || verdict->unwritten || !verdict->wrong) return 0;
    if (make_truth(which, arrays, &truth)) {
        const struct output o = output_of(which, arrays, &truth, lab_first_output(&lab));
        if ((uint64_t)o.elements == lab_outputs(&lab, &which->shape)) /* nothing else is wrong */
            formula = find_formula(&o, &block);
    }
    free_truth(&truth);
    if (formula >= 0) explain_by(&lab.formulas[formula], block, verdict, out);
    return formula >= 0;
}

/* --- from a wrong result to a finding --------------------------------------------------------- */

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
    if (f->kind == FINDING_UNWRITTEN) set_unwritten(f, verdict);
    if (f->kind == FINDING_WRONG_RESULT) set_wrong(f, verdict);
    if (f->kind == FINDING_NOT_FLOAT32) {
        SET_REAL(MAX_ERROR, verdict->max_error_u);
        SET_REAL(RMS_ERROR, verdict->rms_error_u);
    }
    const struct lab_array *array = &lab.arrays[verdict->array];
    SET(OF, lab_elements(array, shape));
    snprintf(f->object.name, sizeof f->object.name, "%s", array->name);
    return true;
}

bool judge_verdict(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                   const struct verdict *verdict, struct finding *f, struct explained *explained) {
    if (!verdict_finding(verdict, &which->shape, f)) return false;
    add_explanations(f, which, arrays, verdict, explained);
    return true;
}

static bool is_wrong(const struct output *o, int64_t i, double *expected) {
    if (lab_truth.is_wrong) return lab_truth.is_wrong(&o->which->shape, o->arrays, i, expected);
    *expected = value_at(o, o->right, i);
    return !is_right(o, i);
}

int truth_wrong(const struct lab_case *which, const void *const arrays[LAB_ARRAYS], int most,
                struct wrong_element *wrong) {
    struct truth truth = {0};
    const bool known =
        lab_truth.is_wrong || (lab_truth.reference && make_truth(which, arrays, &truth));
    const struct output o = output_of(which, arrays, &truth, lab_first_output(&lab));
    int found = 0;
    for (int64_t i = 0; known && i < o.elements && found < most; i++) {
        double expected;
        if (is_unwritten(&o, i) || !is_wrong(&o, i, &expected)) continue;
        wrong[found++] = (struct wrong_element){
            .row = (int)(i / o.cols), .col = (int)(i % o.cols), .expected = expected};
    }
    free_truth(&truth);
    return found;
}
