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

enum { CHUNK = 64 * 1024 }; /* elements of whole rows that a thread takes at a time */

/* What one worker has found; all added up at the end. */
struct tally {
    struct verdict verdict; /* counts, boxes, the first places, and the largest ratio of errors */
    uint64_t measured;      /* elements in that, and in squares */
    double squares;
    uint64_t map_wrong[MAP_ROWS][MAP_COLS], map_unwritten[MAP_ROWS][MAP_COLS];
};

struct verification {
    const struct problem *problem;
    double gamma;            /* 0 where C must equal ref */
    const int *rows, *cols;  /* of the product at hand */
    struct tally *tally;     /* one for each worker */
    struct verdict *verdict; /* of the first one, in which all are added up */
    uint64_t map_compared[MAP_ROWS][MAP_COLS];
    int chunk; /* rows that a thread takes at a time */
    /* quick */
    double *signs, *y, *y_abs;
    unsigned char *flagged;
};

static void box_merge(struct box *box, const struct box *other) {
    if (other->row_first > other->row_last) return;
    box_add(box, other->row_first, other->col_first);
    box_add(box, other->row_last, other->col_last);
}

static bool is_before(const struct wrong_element *a, const struct wrong_element *b) {
    return a->row < b->row || (a->row == b->row && a->col < b->col);
}

/* Keep the FIRST_WRONG smallest places, in any order of arrival. */
static void first_add(struct verdict *v, struct wrong_element place) {
    int to = v->first_count;
    if (to == FIRST_WRONG && !is_before(&place, &v->first[--to])) return;
    v->first_count = to + 1;
    for (; to > 0 && is_before(&place, &v->first[to - 1]); to--) v->first[to] = v->first[to - 1];
    v->first[to] = place;
}

static void add_wrong(struct tally *tally, int row, int col) {
    struct verdict *v = &tally->verdict;
    v->wrong++;
    box_add(&v->wrong_box, row, col);
    first_add(v, (struct wrong_element){.row = row, .col = col});
    tally->map_wrong[row / v->cell_rows][col / v->cell_cols]++;
}

/* NaN, or never written: no reference is needed to see that. */
static void add_nan(struct tally *tally, int row, int col, const float *got) {
    struct verdict *v = &tally->verdict;
    if (get_bits(got) == POISON_BITS) {
        v->unwritten++;
        box_add(&v->unwritten_box, row, col);
        tally->map_unwritten[row / v->cell_rows][col / v->cell_cols]++;
    } else {
        v->nan++;
        add_wrong(tally, row, col);
    }
}

static void measure(struct tally *tally, double error, double G) {
    if (!(G > 0) || !isfinite(error)) return;
    double ratio = error / G;
    tally->measured++;
    tally->squares += ratio * ratio;
    if (ratio > tally->verdict.max_error_u) tally->verdict.max_error_u = ratio;
}

/* How far an element, or a sum of elements, may be off. Finite, so that infinity is always wrong.
 */
static double bound(const struct verification *v, double G) {
    return G > 0 ? fmin(v->gamma * G, DBL_MAX) : 0;
}

static void compare_tile(void *context, int worker, const struct tile *tile) {
    struct verification *v = context;
    struct tally *tally = &v->tally[worker];
    for (int i = 0; i < tile->rows; i++) {
        int row = at(v->rows, tile->row + i);
        const float *C = v->problem->C + (size_t)row * (size_t)v->problem->n;
        const double *ref = tile->ref + i * TILE_COLS, *G = tile->G + i * TILE_COLS;
        for (int j = 0; j < tile->cols; j++) {
            int col = at(v->cols, tile->col + j);
            double error = fabs(C[col] - ref[j]);
            measure(tally, error, G[j]);
            if (!(error <= bound(v, G[j])) && !isnan(C[col])) add_wrong(tally, row, col);
        }
    }
}

static void run_rows(struct verification *v, parallel_body *body, int rows, int cols) {
    struct parallel_job job = {.body = body, .context = v};
    v->chunk = max_int(1, CHUNK / cols);
    job.count = ((size_t)rows + (size_t)v->chunk - 1) / (size_t)v->chunk;
    parallel_run(&job, worker_count(job.count, (double)rows * cols));
}

/* NaN and unwritten elements in some rows of C, which the comparison then skips. */
static void scan(void *context, int worker, size_t index) {
    struct verification *v = context;
    const struct problem *p = v->problem;
    int64_t first = (int64_t)index * v->chunk;
    for (int64_t row = first; row < first + v->chunk && row < p->m; row++) {
        const float *C = p->C + row * p->n;
        for (int col = 0; col < p->n; col++)
            if (isnan(C[col])) add_nan(&v->tally[worker], (int)row, col, &C[col]);
    }
}

/* A tile without any written element needs no reference. */
static bool tile_written(void *context, int worker, const struct tile *tile) {
    const struct verification *v = context;
    (void)worker;
    for (int i = 0; i < tile->rows; i++) {
        const float *C = v->problem->C + (size_t)at(v->rows, tile->row + i) * (size_t)v->problem->n;
        for (int j = 0; j < tile->cols; j++)
            if (get_bits(&C[at(v->cols, tile->col + j)]) != POISON_BITS) return true;
    }
    return false;
}

/* Each cell of the map: how many of these rows and columns cross it. */
static void map_count(struct verification *v, const int *rows, int row_count, const int *cols,
                      int col_count) {
    uint64_t down[MAP_ROWS] = {0}, across[MAP_COLS] = {0};
    for (int i = 0; i < row_count; i++) down[at(rows, i) / v->verdict->cell_rows]++;
    for (int j = 0; j < col_count; j++) across[at(cols, j) / v->verdict->cell_cols]++;
    for (int i = 0; i < MAP_ROWS; i++)
        for (int j = 0; j < MAP_COLS; j++) v->map_compared[i][j] += down[i] * across[j];
}

/* Hold these rows x these columns of C against the reference. */
static bool compare(struct verification *v, const int *rows, int row_count, const int *cols,
                    int col_count) {
    const struct problem *p = v->problem;
    struct product product = {p->A,      p->B,      p->n,         p->k,         rows, cols,
                              row_count, col_count, tile_written, compare_tile, v};
    v->rows = rows;
    v->cols = cols;
    v->verdict->compared += (uint64_t)row_count * (uint64_t)col_count;
    map_count(v, rows, row_count, cols, col_count);
    return product_run(&product);
}

/* -- quick -- */

enum {
    QUICK_TILE = 16,    /* the lab's tile: its corners are where guards go wrong */
    QUICK_RANDOM = 16,  /* random rows, and columns, in full */
    QUICK_LAST = 4,     /* last rows, and columns, in full */
    QUICK_FLAGGED = 64, /* rows that Freivalds' check flags, in full */
};

/* sum = x . y and magnitude = |x| . |z|, in eight lanes that compilers turn into vectors. */
static void dot(const float *x, const double *y, const double *z, int count, double *sum,
                double *magnitude) {
    enum { LANES = 8 };
    double s[LANES] = {0}, g[LANES] = {0};
    int j = 0;
    for (; j + LANES <= count; j += LANES) {
        for (int lane = 0; lane < LANES; lane++) {
            s[lane] += x[j + lane] * y[j + lane];
            g[lane] += fabs(x[j + lane] * z[j + lane]);
        }
    }
    for (; j < count; j++) {
        s[0] += x[j] * y[j];
        g[0] += fabs(x[j] * z[j]);
    }
    *sum = *magnitude = 0;
    for (int lane = 0; lane < LANES; lane++) {
        *sum += s[lane];
        *magnitude += g[lane];
    }
}

/* y = B x and |B| 1, some rows of B. */
static void freivalds_b(void *context, int worker, size_t index) {
    struct verification *v = context;
    const struct problem *p = v->problem;
    int64_t first = (int64_t)index * v->chunk;
    for (int64_t row = first; row < first + v->chunk && row < p->k; row++)
        dot(p->B + row * p->n, v->signs, v->signs, p->n, &v->y[row], &v->y_abs[row]);
    (void)worker;
}

/* Some rows of C: flag a row when C x - A (B x) is larger than the sum of what its elements may be
 * off. Exact inputs leave no error at all, and sums of integers no rounding. */
static void freivalds_c(void *context, int worker, size_t index) {
    struct verification *v = context;
    const struct problem *p = v->problem;
    int64_t first = (int64_t)index * v->chunk;
    for (int64_t row = first; row < first + v->chunk && row < p->m; row++) {
        const float *C = p->C + row * p->n;
        double expected, allowed, got, unused;
        dot(p->A + row * p->k, v->y, v->y_abs, p->k, &expected, &allowed);
        dot(C, v->signs, v->signs, p->n, &got, &unused);
        allowed = p->comparison == COMPARE_EXACT ? 0.5 : bound(v, allowed);
        v->flagged[row] = !(fabs(got - expected) <= allowed);
    }
    (void)worker;
}

/* Freivalds, "Probabilistic machines can use less running time", 1977: C x = A (B x) for a random
 * vector x of signs, in O(mk + kn + mn) instead of O(mkn). */
static bool freivalds(struct verification *v, uint64_t key) {
    const struct problem *p = v->problem;
    v->signs = malloc(((size_t)p->n + 2 * (size_t)p->k) * sizeof *v->signs);
    if (!v->signs) return false;
    v->y = v->signs + p->n;
    v->y_abs = v->y + p->k;
    for (int j = 0; j < p->n; j++) v->signs[j] = random64(key, (uint64_t)j) >> 63 ? 1.0 : -1.0;
    run_rows(v, freivalds_b, p->k, p->n);
    run_rows(v, freivalds_c, p->m, max_int(p->n, p->k));
    free(v->signs);
    return true;
}

/* Lists of the rows (or columns) that are compared in full, of all others, and of those among the
 * others that lie on the edge of a tile; all in order. */
struct sample {
    int *full, *rest, *edge; /* the first is the caller's to free, with the others behind it */
    int full_count, rest_count, edge_count;
};

/* Chosen in full: random ones, the last ones, and at most flagged_max of the flagged ones. */
static bool sample_new(struct sample *sample, int size, const unsigned char *flagged,
                       int flagged_max, uint64_t key) {
    unsigned char *chosen = calloc((size_t)size, 1);
    *sample = (struct sample){.full = malloc(3 * (size_t)size * sizeof(int))};
    const bool enough = chosen && sample->full;
    for (int i = 0; enough && i < QUICK_RANDOM; i++)
        chosen[random64(key, (uint64_t)i) % (uint64_t)size] = 1;
    for (int i = 0; enough && i < min_int(QUICK_LAST, size); i++) chosen[size - 1 - i] = 1;
    for (int i = 0; enough && flagged && i < size && flagged_max > 0; i++) {
        flagged_max -= flagged[i] && !chosen[i];
        chosen[i] |= flagged[i];
    }
    sample->rest = sample->full + size;
    sample->edge = sample->rest + size;
    for (int i = 0; enough && i < size; i++) {
        const int phase = i % QUICK_TILE;
        const bool is_edge = phase == 0 || phase == QUICK_TILE - 1;
        if (chosen[i])
            sample->full[sample->full_count++] = i;
        else
            sample->rest[sample->rest_count++] = i;
        if (!chosen[i] && is_edge) sample->edge[sample->edge_count++] = i;
    }
    free(chosen);
    return enough;
}

/* The three compared parts are disjoint, so that every count is of different elements: full rows;
 * full columns in the other rows; tile corners in what is left. */
static bool verify_quick(struct verification *v) {
    const struct problem *p = v->problem;
    struct sample rows = {0}, cols = {0};
    uint64_t key = mix64(p->seed ^ UINT64_C(0x5175696b)); /* not the streams that filled A and B */
    v->flagged = calloc((size_t)p->m, 1);
    bool enough = v->flagged && freivalds(v, random64(key, 0)) &&
                  sample_new(&rows, p->m, v->flagged, QUICK_FLAGGED, random64(key, 1)) &&
                  sample_new(&cols, p->n, NULL, 0, random64(key, 2)) &&
                  compare(v, rows.full, rows.full_count, NULL, p->n) &&
                  compare(v, rows.rest, rows.rest_count, cols.full, cols.full_count) &&
                  compare(v, rows.edge, rows.edge_count, cols.edge, cols.edge_count);
    for (int i = 0; enough && i < rows.rest_count; i++)
        v->verdict->suspect_rows += v->flagged[rows.rest[i]];
    free(rows.full);
    free(cols.full);
    free(v->flagged);
    return enough;
}

/* Cells of whole tiles, so few that the map fits a terminal. */
static int cell_size(int size, int cells) {
    return (int)round_up(((size_t)size - 1) / (size_t)cells + 1, MAP_CELL);
}

static void verdict_begin(struct verdict *verdict, const struct problem *p, enum verify_mode mode) {
    memset(verdict, 0, sizeof *verdict);
    verdict->mode = mode;
    verdict->array = MATRIX_C;
    verdict->exact = p->comparison == COMPARE_EXACT;
    verdict->wrong_box = verdict->unwritten_box = empty_box();
    verdict->cell_rows = cell_size(p->m, MAP_ROWS);
    verdict->cell_cols = cell_size(p->n, MAP_COLS);
    verdict->map_rows = (p->m - 1) / verdict->cell_rows + 1;
    verdict->map_cols = (p->n - 1) / verdict->cell_cols + 1;
    memset(verdict->map, CELL_UNKNOWN, sizeof verdict->map);
}

static void tally_merge(struct tally *sum, const struct tally *other) {
    struct verdict *to = &sum->verdict;
    const struct verdict *from = &other->verdict;
    to->wrong += from->wrong;
    to->nan += from->nan;
    to->unwritten += from->unwritten;
    to->max_error_u = fmax(to->max_error_u, from->max_error_u);
    box_merge(&to->wrong_box, &from->wrong_box);
    box_merge(&to->unwritten_box, &from->unwritten_box);
    for (int i = 0; i < from->first_count; i++) first_add(to, from->first[i]);
    sum->measured += other->measured;
    sum->squares += other->squares;
    for (int i = 0; i < MAP_ROWS; i++)
        for (int j = 0; j < MAP_COLS; j++) {
            sum->map_wrong[i][j] += other->map_wrong[i][j];
            sum->map_unwritten[i][j] += other->map_unwritten[i][j];
        }
}

static enum cell cell_state(uint64_t elements, uint64_t compared, uint64_t wrong,
                            uint64_t unwritten) {
    if (wrong) return wrong + unwritten >= compared ? CELL_WRONG : CELL_PARTLY_WRONG;
    if (unwritten) return unwritten >= elements ? CELL_UNWRITTEN : CELL_PARTLY_UNWRITTEN;
    return compared ? CELL_RIGHT : CELL_UNKNOWN;
}

static void verdict_map(const struct verification *v) {
    const struct tally *sum = v->tally;
    struct verdict *verdict = v->verdict;
    for (int i = 0; i < verdict->map_rows; i++) {
        int rows = min_int(verdict->cell_rows, v->problem->m - i * verdict->cell_rows);
        for (int j = 0; j < verdict->map_cols; j++) {
            int cols = min_int(verdict->cell_cols, v->problem->n - j * verdict->cell_cols);
            verdict->map[i][j] =
                (char)cell_state((uint64_t)rows * (uint64_t)cols, v->map_compared[i][j],
                                 sum->map_wrong[i][j], sum->map_unwritten[i][j]);
        }
    }
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

static void verdict_end(const struct verification *v) {
    struct verdict *verdict = v->verdict;
    const struct tally *sum = v->tally;
    verdict->max_error_u /= UNIT_ROUNDOFF;
    if (sum->measured)
        verdict->rms_error_u = sqrt(sum->squares / (double)sum->measured) / UNIT_ROUNDOFF;
    for (int i = 0; i < verdict->first_count; i++) describe(v, &verdict->first[i]);
    verdict_map(v);
    bool within = !verdict->wrong && !verdict->unwritten && !verdict->suspect_rows;
    verdict->not_float32 =
        within && v->problem->comparison == COMPARE_FLOAT32 && !is_float32(verdict);
    verdict->passed = within && !verdict->not_float32;
}

bool verify(const struct problem *problem, enum verify_mode mode, struct verdict *verdict) {
    verdict_begin(verdict, problem, mode);
    if (mode == VERIFY_NONE) return true;
    struct verification v = {.problem = problem};
    if (problem->comparison != COMPARE_EXACT) v.gamma = gamma_bound((int64_t)problem->k + 2);
    int workers = worker_count(MAX_WORKERS, INFINITY); /* as many as any part may use */
    v.tally = calloc((size_t)workers, sizeof *v.tally);
    if (!v.tally) return false;
    v.verdict = &v.tally->verdict;
    for (int i = 0; i < workers; i++) v.tally[i].verdict = *verdict;
    run_rows(&v, scan, problem->m, problem->n);
    bool enough =
        mode == VERIFY_QUICK ? verify_quick(&v) : compare(&v, NULL, problem->m, NULL, problem->n);
    for (int i = 1; i < workers; i++) tally_merge(&v.tally[0], &v.tally[i]);
    verdict_end(&v);
    *verdict = *v.verdict;
    free(v.tally);
    return enough;
}
