/* What a formula makes of A and B, whether C is that, and the formula that fits best. */
#include "../../engine/report/text/numbers.h"
#include "../product.h"
#include "study.h"

#include <math.h>
#include <string.h>

enum {
    SOURCES = 4, /* elements that a mistaken store may put in the same place, at most */
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
static bool add_previous(const struct formula *f, const struct studied *e, double *sum, double *G) {
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

static bool value_fits(const struct formula *f, const struct studied *e, double sum, double G) {
    double value = f->factor * sum + f->offset;
    G = fabs(f->factor) * G;
    if (f->finish) value = f->finish(sum, G);
    const double tolerance =
        explain_tolerance(f->problem, G, fabs(value) + fabs(f->offset), f->slack);
    /* Beside a number so large the products are lost in rounding: nothing shows that any
     * were added. */
    if (G > 0 && tolerance > G) return false;
    return fabs((double)e->got - value) <= tolerance;
}

static enum outcome try(struct search *s, const struct formula *f, const struct studied *e) {
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
    for (int i = 0; i < s->probe_count; i++)
        if (try(s, f, s->probes[i]) != FITS) return false;
    return true;
}

/* It gives all wrong elements but NaN, and there are enough of them. */
static bool is_good(const struct fit *fit, bool literal) {
    uint64_t wrong = fit->fits + fit->stray + fit->nan_left;
    return !fit->differs && !fit->unknown && fit->fits >= (literal ? 1 : LEAST) &&
           10 * fit->fits >= wrong;
}

static int mistakes_in(const struct formula *f) {
    int count = 1;
    for (const char *at = strchr(f->name, '+'); at; at = strchr(at + 1, '+')) count++;
    return count;
}

/* Of each mistake in a name so much as says which it is: a matrix that is its one tile is
 * transposed in either way, and a loop that ends at n is a sum that is cut. */
static void kind_of_mistake(const struct formula *f, char kind[sizeof f->name]) {
    static const char tile[] = "-tile", loop[] = "k-loop-";
    snprintf(kind, sizeof f->name, "%s", strncmp(f->name, loop, strlen(loop)) ? f->name : "k-cut");
    for (char *at = strstr(kind, tile); at; at = strstr(kind, tile))
        memmove(at, at + strlen(tile), strlen(at + strlen(tile)) + 1);
}

static bool is_same_mistake(const struct formula *f, const struct formula *g) {
    if (f->bits && g->bits) return true; /* what has 8 bits at most has 11 at most, too */
    char of_f[sizeof f->name], of_g[sizeof g->name];
    kind_of_mistake(f, of_f);
    kind_of_mistake(g, of_g);
    return strcmp(of_f, of_g) == 0;
}

/* Whether C is as the formula has it where it is right, too. */
static bool holds_everywhere(const struct search *s, const struct fit *fit) {
    return !fit->right_differs && fit->right == (uint64_t)s->study->with_state[RIGHT];
}

/* All that are compared explain the wrong elements. One that holds for all of C is better than one
 * that does not; of those that do not, one that describes C alone. */
static int rank(const struct search *s, const struct formula *f, const struct fit *fit) {
    return 2 * holds_everywhere(s, fit) + f->literal;
}

/* Elements that are NaN, or never written, as the formula has it. */
static uint64_t more_explained(const struct fit *fit) { return fit->stray + fit->nowhere; }

/* Positive: this formula is better than the best one so far. 0: C does not tell them apart. With
 * inputs of which many formulas give the same, several mistakes are no worse than one. */
static int compare(const struct search *s, const struct formula *f, const struct fit *fit) {
    const int ranks = rank(s, f, fit) - rank(s, &s->best, &s->fit);
    if (ranks) return ranks;
    if (more_explained(fit) != more_explained(&s->fit))
        return more_explained(fit) > more_explained(&s->fit) ? 1 : -1;
    return s->study->informative ? mistakes_in(&s->best) - mistakes_in(f) : 0;
}

void explain_consider(struct search *s, const struct formula *f) {
    bool of_precision = f->input || f->bits; /* explains a result that is nearly right, too */
    if (s->study->verdict->not_float32 && !of_precision) return;
    if (s->work >= work_limit || !fits_probes(s, f)) return;
    struct fit fit = {0};
    for (int i = 0; i < s->study->count; i++) {
        const struct studied *e = &s->study->elements[i];
        add_outcome(&fit, e->state, try(s, f, e));
    }
    bool doubtful = !s->study->informative && !f->literal;
    if (!is_good(&fit, f->literal) || (doubtful && fit.right_differs)) return;
    const int better = s->any ? compare(s, f, &fit) : 1;
    if (better == 0) s->several |= doubtful || !is_same_mistake(f, &s->best);
    if (better <= 0) return;
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
