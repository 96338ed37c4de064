/* The verdict: which elements of C are right, wrong or unwritten, and by how much. The rules are
 * in docs/sgemm.md. */
#include "../engine/cores.h"
#include "../engine/report/element_type.h"
#include "../engine/report/text/numbers.h"
#include "product.h"
#include "sgemm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double gamma_bound(int64_t n) {
    double nu = (double)n * UNIT_ROUNDOFF;
    return nu < 1.0 ? nu / (1.0 - nu) : INFINITY;
}

enum comparison fill_comparison(enum fill fill, int m, int n, int k) {
    double largest; /* of partial sums, which are integers */
    switch (fill) {
    case FILL_ONES_TWOS: largest = 2.0 * k; break;
    case FILL_IDENTITY: /* one term, an integer below 2^24, beside zeros */
    case FILL_INDEX:
    case FILL_EXACT: /* see exact_integer() */ return COMPARE_EXACT;
    case FILL_RANDOM: return COMPARE_FLOAT32;
    case FILL_COUNTING: largest = (double)k * ((double)m * k) * ((double)k * n); break;
    default:
        /* FILL_EXTREMES: a few products make up the whole sum, so errors do not average out as the
         * limits of COMPARE_FLOAT32 suppose; and with a mean other than 0, partial sums and with
         * them the rounding errors grow with k until they look like TF32's. */
        return COMPARE_BOUND;
    }
    return largest <= (double)EXACT_LIMIT ? COMPARE_EXACT : COMPARE_BOUND;
}

/* What one worker has found; all added up at the end. */
struct tally {
    struct verdict verdict; /* all but the values of the first wrong elements, and what follows */
    uint64_t measured;      /* elements in its largest error, and in squares */
    double squares;
};

struct verification {
    const struct problem *problem;
    double gamma;        /* 0 where C must equal ref */
    struct tally *tally; /* one for each worker */
};

/* How far an element may be off. Finite, so that infinity is always wrong. */
static double bound(const struct verification *v, double G) {
    return G > 0 ? fmin(v->gamma * G, DBL_MAX) : 0;
}

static const float *row_of_tile(const struct verification *v, const struct tile *tile, int i) {
    return v->problem->C + (size_t)(tile->row + i) * (size_t)v->problem->n + tile->col;
}

static bool is_written(const float *got) { return get_bits(got) != POISON_BITS; }

/* Notes what was never written. A tile without any written element needs no reference. */
static bool scan_tile(void *context, int worker, const struct tile *tile) {
    const struct verification *v = context;
    struct verdict *verdict = &v->tally[worker].verdict;
    bool any = false;
    for (int i = 0; i < tile->rows; i++) {
        const float *C = row_of_tile(v, tile, i);
        for (int j = 0; j < tile->cols; j++)
            if (is_written(&C[j]))
                any = true;
            else
                verdict_add(verdict, IS_UNWRITTEN, tile->row + i, tile->col + j);
    }
    return any;
}

static void measure(struct tally *tally, double error, double G) {
    if (!(G > 0) || !isfinite(error)) return;
    double ratio = error / G;
    tally->measured++;
    tally->squares += ratio * ratio;
    if (ratio > tally->verdict.max_error_u) tally->verdict.max_error_u = ratio;
}

static void compare_tile(void *context, int worker, const struct tile *tile) {
    const struct verification *v = context;
    struct tally *tally = &v->tally[worker];
    for (int i = 0; i < tile->rows; i++) {
        const float *C = row_of_tile(v, tile, i);
        const double *ref = tile->ref + i * TILE_COLS, *G = tile->G + i * TILE_COLS;
        for (int j = 0; j < tile->cols; j++) {
            if (!is_written(&C[j])) continue;
            const double error = fabs(C[j] - ref[j]);
            const bool right = error <= bound(v, G[j]); /* NaN is not */
            measure(tally, error, G[j]);
            tally->verdict.nan += isnan(C[j]);
            verdict_add(&tally->verdict, right ? IS_RIGHT : IS_WRONG, tile->row + i, tile->col + j);
        }
    }
}

static void tally_merge(struct tally *sum, const struct tally *other) {
    verdict_merge(&sum->verdict, &other->verdict);
    sum->verdict.max_error_u = fmax(sum->verdict.max_error_u, other->verdict.max_error_u);
    sum->measured += other->measured;
    sum->squares += other->squares;
}

/* Expected value and bound of one element, by the definition. */
static void describe(const struct verification *v, struct wrong_element *e) {
    const struct problem *p = v->problem;
    const float *a = p->A + (size_t)e->row * (size_t)p->k, *b = p->B + e->col;
    double G = 0;
    e->got = p->C[(size_t)e->row * (size_t)p->n + (size_t)e->col];
    for (int i = 0; i < p->k; i++) {
        double term = (double)a[i] * b[(size_t)i * (size_t)p->n];
        e->expected += term;
        G += fabs(term);
    }
    e->bound = bound(v, G);
}

static void verdict_end(const struct verification *v, struct verdict *verdict) {
    const struct tally *sum = v->tally;
    *verdict = sum->verdict;
    verdict->max_error_u /= UNIT_ROUNDOFF;
    if (sum->measured)
        verdict->rms_error_u = sqrt(sum->squares / (double)sum->measured) / UNIT_ROUNDOFF;
    for (int i = 0; i < verdict->first_count; i++) describe(v, &verdict->first[i]);
    bool within = !verdict->wrong && !verdict->unwritten;
    verdict->not_float32 =
        within && v->problem->comparison == COMPARE_FLOAT32 && !is_float32(verdict);
    verdict->passed = within && !verdict->not_float32;
}

bool verify(const struct problem *p, struct verdict *verdict) {
    enum { CELL = 16 }; /* of the map: the lab's tile */
    struct verification v = {.problem = p};
    struct product product = {p->A, p->B, p->n,      p->k,         NULL, NULL,
                              p->m, p->n, scan_tile, compare_tile, &v};
    if (p->comparison != COMPARE_EXACT) v.gamma = gamma_bound((int64_t)p->k + 2);
    const int workers = worker_count(MAX_WORKERS, INFINITY); /* as many as the product may use */
    v.tally = calloc((size_t)workers, sizeof *v.tally);
    if (!v.tally) return false;
    for (int i = 0; i < workers; i++)
        verdict_begin(&v.tally[i].verdict, MATRIX_C, p->m, p->n, CELL);
    v.tally->verdict.exact = p->comparison == COMPARE_EXACT;
    const bool enough = product_run(&product);
    for (int i = 1; i < workers; i++) tally_merge(v.tally, &v.tally[i]);
    verdict_end(&v, verdict);
    free(v.tally);
    return enough;
}
