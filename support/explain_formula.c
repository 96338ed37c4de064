/* What a formula makes of A and B, whether C is that, and the formula that fits best. */
#include "explain_formula.h"

#include <math.h>

enum {
    SOURCES = 4, /* elements that a mistaken store may put in the same place, at most */
    MISSES = 6,  /* probes that a formula may miss: it need not explain every element */
    LEAST = 8,   /* elements that an explanation rests on: one or two fit anything */
};

static const double work_limit = 3e8; /* multiplications: about a second */

const int explain_tiles[TILES] = {16, 32, 8, 4, 2, 64, 12, 20, 24, 10, 48, 128};

int64_t explain_a_row(const struct formula *f, int i, int p) {
    if (f->tile && p >= f->problem->k) return ZERO;
    return (int64_t)i * f->a_stride + p;
}

int64_t explain_b_row(const struct formula *f, int i, int p) {
    if (f->tile && p >= f->problem->k) return ZERO;
    return (int64_t)p * f->b_stride + i;
}

static double weigh_slice(const struct formula *f, int p) {
    return p >= f->first && p < f->last ? f->inside : f->outside;
}

void explain_weigh(struct formula *f, int first, int last, double inside, double outside) {
    f->weight = weigh_slice;
    f->first = first;
    f->last = last;
    f->inside = inside;
    f->outside = outside;
}

struct formula explain_formula_new(const struct study *study, struct formula changed) {
    const struct problem *p = study->problem;
    struct formula f = changed;
    f.study = study;
    f.problem = p;
    f.terms = f.a_stride = p->k;
    f.rows = p->m;
    f.cols = f.b_stride = f.c_stride = p->n;
    f.a = explain_a_row;
    f.b = explain_b_row;
    f.factor = 1;
    f.natural |= f.finish != NULL;
    return f;
}

/* ---- one element ---- */

/* The elements of the product that a store may put at (row, col) of C. */
static int find_sources(const struct formula *f, int row, int col, struct source out[SOURCES]) {
    if (!f->source) {
        out[0] = (struct source){row, col};
        return 1;
    }
    int count = 0;
    int64_t at = (int64_t)row * f->problem->n + col, r = at / f->c_stride;
    int64_t widest = (int64_t)max_int(f->rows, f->cols) + f->tile;
    for (; r >= 0 && at - r * f->c_stride < widest && count < SOURCES; r--) {
        struct source source = f->source(f, r, at - r * f->c_stride);
        if (source.row < f->rows && source.col < f->cols) out[count++] = source;
    }
    return count;
}

/* The sum for element (row, col); false when it takes something from outside A or B. */
static bool add_up(struct search *s, const struct formula *f, struct source at, double *sum,
                   double *G) {
    const struct problem *p = f->problem;
    uint64_t a_size = (uint64_t)p->m * (uint64_t)p->k, b_size = (uint64_t)p->k * (uint64_t)p->n;
    *sum = *G = 0;
    s->work += f->terms;
    for (int i = 0; i < f->terms; i++) {
        double weight = f->weight ? f->weight(f, i) : 1;
        int64_t a = f->a(f, at.row, i), b = f->b(f, at.col, i);
        if (weight == 0 || a == ZERO || b == ZERO) continue;
        if ((uint64_t)a >= a_size || (uint64_t)b >= b_size) return false;
        float x = p->A[a], y = p->B[b];
        if (f->input) {
            x = f->input(x);
            y = f->input(y);
        }
        double term = weight * x * y;
        *sum += term;
        if (f->step) *sum = (double)f->step((float)*sum);
        *G += fabs(term);
    }
    return true;
}

/* Adds what the same thread had computed before this element: false when that is not finite. */
static bool add_previous(const struct formula *f, const struct element *e, double *sum, double *G) {
    int row = e->row, col = e->col - f->back_cols, n = f->problem->n;
    if (col < 0) {
        row -= f->back_rows;
        col += f->back_cols;
        while (col + f->back_cols < n) col += f->back_cols;
    }
    if (row < 0) return true;
    double previous = (double)f->problem->C[(int64_t)row * n + col];
    *sum += previous;
    *G = 4 * (*G + fabs(previous)); /* whose own error counts too */
    return isfinite(previous);
}

double explain_tolerance(const struct problem *p, double G, double value, double slack) {
    const int least = 32; /* mistakes that repeat terms round more often than k */
    double relative = gamma_bound(max_int(p->k, least) + 2);
    if (p->comparison == COMPARE_FLOAT32) relative = fmin(relative, FLOAT32_MAX_U * UNIT_ROUNDOFF);
    if (p->comparison == COMPARE_EXACT && G < (double)EXACT_LIMIT) relative = 0;
    return relative * G + slack * UNIT_ROUNDOFF * fabs(value);
}

static bool value_fits(const struct formula *f, const struct element *e, double sum, double G) {
    double value = f->factor * sum + f->offset;
    G = fabs(f->factor) * G;
    if (f->finish) value = f->finish(sum, G);
    return fabs((double)e->got - value) <=
           explain_tolerance(f->problem, G, fabs(value) + fabs(f->offset), f->slack);
}

static enum outcome try(struct search *s, const struct formula *f, const struct element *e) {
    if (f->accept) return f->accept(f, e);
    struct source sources[SOURCES];
    int count = find_sources(f, e->row, e->col, sources);
    if (count == 0) return NOWHERE;
    if (e->state == UNWRITTEN) return DIFFERS;
    enum outcome outcome = DIFFERS;
    for (int i = 0; i < count; i++) {
        double sum = e->ref, G = e->G;
        bool inside = f->natural || add_up(s, f, sources[i], &sum, &G);
        if (inside && f->back_cols) inside = add_previous(f, e, &sum, &G);
        if (!inside)
            outcome = OUTSIDE;
        else if (value_fits(f, e, sum, G))
            return FITS;
    }
    return outcome;
}

static void add_outcome(struct fit *fit, enum state state, enum outcome outcome) {
    switch (state) {
    case WRONG:
        fit->fits += outcome == FITS;
        fit->unknown += outcome == OUTSIDE;
        fit->differs += outcome == DIFFERS || outcome == NOWHERE;
        break;
    case NOT_FINITE:
        fit->stray += outcome == OUTSIDE;
        fit->nan_left += outcome != OUTSIDE;
        break;
    case UNWRITTEN:
        fit->nowhere += outcome == NOWHERE;
        fit->written += outcome != NOWHERE;
        break;
    case RIGHT:
        fit->right += outcome != OUTSIDE;
        fit->right_differs += outcome == DIFFERS || outcome == NOWHERE;
        break;
    }
}

/* ---- the best formula ---- */

static bool fits_probes(struct search *s, const struct formula *f) {
    int misses = 0, fits = 0;
    for (int i = 0; i < s->probe_count && misses < MISSES; i++) {
        enum outcome outcome = try(s, f, s->probes[i]);
        misses += outcome == DIFFERS || outcome == NOWHERE;
        fits += outcome == FITS;
    }
    return fits > 0 && misses < MISSES && misses <= fits;
}

/* It explains nine of ten wrong elements for which it gives a value, and enough of them. */
static bool is_good(const struct fit *fit, bool literal) {
    uint64_t wrong = fit->fits + fit->differs + fit->unknown + fit->stray + fit->nan_left;
    return fit->fits >= (literal ? 1 : LEAST) && 10 * fit->fits >= wrong &&
           10 * fit->fits >= 9 * (fit->fits + fit->differs);
}

/* Elements of C that are as the formula has them. */
static uint64_t score(const struct fit *fit) {
    return fit->fits + fit->stray + fit->nowhere + fit->right - fit->right_differs;
}

void explain_consider(struct search *s, const struct formula *f) {
    bool of_precision = f->input || f->bits; /* explains a result that is nearly right, too */
    if (s->study->verdict->not_float32 && !of_precision) return;
    if (s->work >= work_limit || !fits_probes(s, f)) return;
    struct fit fit = {0};
    for (int i = 0; i < s->study->count; i++) {
        const struct element *e = &s->study->elements[i];
        add_outcome(&fit, e->state, try(s, f, e));
    }
    bool doubtful = !s->study->informative && !f->literal;
    if (!is_good(&fit, f->literal) || (doubtful && (fit.differs || fit.right_differs))) return;
    if (s->any && score(&fit) <= score(&s->fit)) {
        s->several |= score(&fit) == score(&s->fit);
        return;
    }
    s->best = *f;
    s->fit = fit;
    s->any = true;
    s->several = false;
}

/* Probes are some of the wrong elements, spread as no pattern in C is. */
struct search explain_search_new(const struct study *study) {
    struct search s = {.study = study};
    int seen = 0;
    uint64_t key = mix64(study->problem->seed ^ UINT64_C(0x4578706c));
    for (int i = 0; i < study->count && s.probe_count < PROBES; i++) {
        if (study->elements[i].state != WRONG) continue;
        uint64_t left = (uint64_t)(study->with_state[WRONG] - seen++);
        if (random64(key, (uint64_t)i) % left < (uint64_t)(PROBES - s.probe_count))
            s.probes[s.probe_count++] = &study->elements[i];
    }
    return s;
}
