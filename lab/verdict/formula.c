/* The evidence: which elements of C are wrong, and by how much. What a formula makes of A and B,
 * whether C is that, and the formula that fits best. */
#include "../../engine/report/element_type.h"
#include "../../engine/report/text/text.h"
#include "../product.h"
#include "study.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double formula_work = 4e6; /* multiply-adds of one on all elements of the study */

enum { LEAST_ELEMENTS = 1024, MOST_ELEMENTS = 1 << 18 };

/* So many numbers from first to last, in order, spread evenly but not regularly. */
static int *spread(int first, int last, int count, uint64_t key) {
    int *list = malloc((size_t)count * sizeof *list);
    const int64_t size = (int64_t)last - first + 1;
    for (int i = 0; list && i < count; i++) {
        const int64_t from = size * i / count, to = size * (i + 1) / count;
        list[i] = first + (int)from + (int)(random64(key, (uint64_t)i) % (uint64_t)(to - from));
    }
    return list;
}

/* As verify() sees it. */
static enum state judge(const struct problem *p, const struct studied *e) {
    const double gamma = p->comparison == COMPARE_EXACT ? 0 : gamma_bound((int64_t)p->k + 2);
    if (get_bits(&e->got) == POISON_BITS) return UNWRITTEN;
    if (!isfinite(e->got)) return NOT_FINITE;
    return fabs((double)e->got - e->ref) <= (e->G > 0 ? gamma * e->G : 0) ? RIGHT : WRONG;
}

/* Those where the lists of rows and columns meet. */
static bool study_elements(struct study *s, const int *rows, int row_count, const int *cols,
                           int col_count) {
    const struct problem *p = s->problem;
    s->count = row_count * col_count;
    double *ref = malloc((size_t)s->count * sizeof *ref), *G = malloc((size_t)s->count * sizeof *G);
    s->elements = malloc((size_t)s->count * sizeof *s->elements);
    const bool enough = rows && cols && ref && G && s->elements &&
                        reference(p->A, p->B, p->n, p->k, rows, row_count, cols, col_count, ref, G);
    for (int i = 0, other = s->count; enough && i < s->count; i++) {
        struct studied e = {.row = rows[i / col_count], .col = cols[i % col_count]};
        e.got = p->C[(size_t)e.row * (size_t)p->n + (size_t)e.col];
        e.ref = ref[i];
        e.G = G[i];
        e.state = judge(p, &e);
        s->elements[e.state == WRONG ? s->with_state[WRONG] : --other] = e;
        s->with_state[e.state]++;
    }
    free(ref);
    free(G);
    return enough;
}

/* Of a large C random rows and columns where something is wrong. */
bool study_new(struct study *s, const struct problem *p, const struct verdict *v) {
    const uint64_t key = mix64(p->seed ^ UINT64_C(0x4c617474));
    const int most = (int)fmin(fmax(formula_work / p->k, LEAST_ELEMENTS), MOST_ELEMENTS);
    struct box box = {0, p->m - 1, 0, p->n - 1};
    if ((double)p->m * p->n > most && v->wrong) box = v->wrong_box;
    *s = (struct study){.problem = p};
    s->whole = box_elements(&box) == (uint64_t)p->m * (uint64_t)p->n;
    const int rows = box.row_last - box.row_first + 1, cols = box.col_last - box.col_first + 1;
    const int col_count = min_int(cols, max_int((int)sqrt(most), most / rows));
    const int row_count = min_int(rows, most / col_count);
    s->complete = box_elements(&box) == (uint64_t)row_count * (uint64_t)col_count;
    int *row = spread(box.row_first, box.row_last, row_count, random64(key, 0));
    int *col = spread(box.col_first, box.col_last, col_count, random64(key, 1));
    const bool enough = study_elements(s, row, row_count, col, col_count);
    free(row);
    free(col);
    return enough;
}

/* ---- formulas ---- */

enum {
    SOURCES = 4, /* elements that a mistaken store may put in the same place, at most */
    LEAST = 8,   /* elements that an explanation rests on: one or two fit anything */
};

static const double work_limit = 3e8; /* multiplications: about a second */

/* An element of C is what the formula gives, or is not; the formula takes something from outside A
 * or B; or it stores nothing there. */
enum outcome { FITS, DIFFERS, OUTSIDE, NOWHERE, OUTCOMES };

struct formula formula_new(const struct study *study, const char *name, const char *hint,
                           const char *phrase, ...) {
    const struct problem *p = study->problem;
    struct formula f = {.hint = hint, .factor = 1};
    f.a = (struct layout){.row_step = p->k, .col_step = 1};
    f.b = f.c = (struct layout){.row_step = p->n, .col_step = 1};
    APPEND(f.name, "%s", name);
    va_list values;
    va_start(values, phrase);
    vsnprintf(f.phrase, sizeof f.phrase, phrase, values);
    va_end(values);
    return f;
}

double formula_weight(const struct formula *f, int p) {
    const int place = f->every ? p % f->every : p;
    return place >= f->first && place < f->last ? f->weight : 1;
}

/* Of the same tile, but with row and column exchanged. */
static struct place transposed(struct place at, int tile) {
    return (struct place){at.row - at.row % tile + at.col % tile,
                          at.col - at.col % tile + at.row % tile};
}

/* *x = an element of a matrix of rows x cols, as the formula reads it: of tiles, 0 beyond the
 * edges. False: that is outside. */
static bool find_element(const float *matrix, const struct layout *layout, int rows, int cols,
                         struct place at, float *x) {
    if (layout->tile) at = transposed(at, layout->tile);
    *x = 0;
    if (layout->tile && (at.row >= rows || at.col >= cols)) return true;
    const int64_t place = (int64_t)at.row * layout->row_step + (int64_t)at.col * layout->col_step;
    if (place >= (int64_t)rows * cols) return false;
    *x = matrix[place];
    return true;
}

/* The elements of the product that a store may put at (row, col) of C. */
static int find_sources(const struct formula *f, const struct problem *p, int row, int col,
                        struct place out[SOURCES]) {
    const struct layout *c = &f->c;
    const int step = max_int(c->row_step, c->col_step);
    const int64_t at = (int64_t)row * p->n + col, widest = max_int(p->m, p->n) + c->tile;
    int count = 0;
    for (int64_t slow = at / step; slow >= 0 && count < SOURCES; slow--) {
        const int64_t along = at - slow * step;
        if (along >= widest) break;
        struct place place = {(int)slow, (int)along};
        if (c->row_step < c->col_step) place = (struct place){(int)along, (int)slow};
        if (c->tile) place = transposed(place, c->tile);
        if (place.row < p->m && place.col < p->n) out[count++] = place;
    }
    return count;
}

/* The sum for an element of the product; false when it takes something from outside A or B. */
static bool add_up(struct search *s, const struct formula *f, struct place at, double *sum,
                   double *G) {
    const struct problem *p = s->study->problem;
    *sum = *G = 0;
    s->work += p->k;
    for (int i = 0; i < p->k; i++) {
        const struct place in_a = {at.row, f->a.period ? i % f->a.period : i};
        const struct place in_b = {f->b.period ? i % f->b.period : i, at.col};
        const double weight = formula_weight(f, i);
        float x, y;
        if (weight == 0) continue;
        if (!find_element(p->A, &f->a, p->m, p->k, in_a, &x) ||
            !find_element(p->B, &f->b, p->k, p->n, in_b, &y))
            return false;
        *sum += weight * x * y;
        *G += fabs(weight * x * y);
    }
    return true;
}

/* Adds what the same thread had computed before this element: false when that is not finite. */
static bool add_previous(const struct formula *f, const struct problem *p, struct place at,
                         double *sum, double *G) {
    if (at.col >= f->back_cols) {
        at.col -= f->back_cols;
    } else {
        at.row -= f->back_rows;
        while (at.col < p->n - f->back_cols) at.col += f->back_cols;
    }
    if (at.row < 0) return true;
    const double previous = (double)p->C[(int64_t)at.row * p->n + at.col];
    *sum += previous;
    *G = 4 * (*G + fabs(previous)); /* whose own error counts too */
    return isfinite(previous);
}

double formula_tolerance(const struct problem *p, double G) {
    const int least = 32; /* mistakes that repeat terms round more often than k */
    double relative = gamma_bound(max_int(p->k, least) + 2);
    if (p->comparison == COMPARE_FLOAT32) relative = fmin(relative, FLOAT32_MAX_U * UNIT_ROUNDOFF);
    if (p->comparison == COMPARE_EXACT && G < (double)EXACT_LIMIT) relative = 0;
    return relative * G;
}

static enum outcome try_formula(struct search *s, const struct formula *f,
                                const struct studied *e) {
    const struct problem *p = s->study->problem;
    struct place sources[SOURCES];
    const int count = find_sources(f, p, e->row, e->col, sources);
    if (count == 0) return NOWHERE;
    if (e->state == UNWRITTEN) return DIFFERS;
    enum outcome outcome = DIFFERS;
    for (int i = 0; i < count; i++) {
        double sum = e->ref, G = e->G;
        bool inside = f->factor != 1 || f->back_cols || add_up(s, f, sources[i], &sum, &G);
        if (inside && f->back_cols) inside = add_previous(f, p, sources[i], &sum, &G);
        const double allowed = formula_tolerance(p, fabs(f->factor) * G);
        if (!inside)
            outcome = OUTSIDE;
        else if (fabs((double)e->got - f->factor * sum) <= allowed)
            return FITS;
    }
    return outcome;
}

/* One that holds for all of C is better than one that does not; then, one that also explains NaN
 * and unwritten elements. With inputs that are not random many formulas give the same somewhere: it
 * has to hold for all of C then, and to be the only one. That C is 0 is certain for any A and B. */
void search_consider(struct search *s, const struct formula *f) {
    const struct study *study = s->study;
    const int *with = study->with_state, least = f->factor == 0 ? 1 : LEAST;
    const bool doubtful = study->problem->comparison != COMPARE_FLOAT32 && f->factor != 0;
    int seen[STATES][OUTCOMES] = {{0}};
    if (s->work >= work_limit) return;
    for (int i = 0; i < study->count; i++) {
        const struct studied *e = &study->elements[i];
        const enum outcome outcome = try_formula(s, f, e);
        if (e->state == WRONG && outcome != FITS) return;
        seen[e->state][outcome]++;
    }
    const bool everywhere = study->whole && seen[RIGHT][FITS] == with[RIGHT];
    const int nan = seen[NOT_FINITE][OUTSIDE], unwritten = seen[UNWRITTEN][NOWHERE];
    if (with[WRONG] < least || with[NOT_FINITE] > 9 * with[WRONG]) return;
    if (doubtful && !everywhere) return;
    int better = everywhere - s->everywhere;
    if (better == 0) better = nan + unwritten - s->nan - s->unwritten;
    if (s->any && better == 0) s->several |= doubtful || strcmp(f->name, s->best.name) != 0;
    if (s->any && better <= 0) return;
    *s = (struct search){study, s->work, *f, true, false, everywhere, nan, unwritten};
}
