/* The reference: A B and |A||B| in double precision, on all cores and vector units.
 *
 * C is cut into tiles. Each thread takes whole tiles, and a tile is handed to its consumer as soon
 * as it is done, so no m x n array of doubles ever exists. */
#include "../engine/cores.h"
#include "../engine/report/text/numbers.h"
#include "product.h"
#include "sgemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 8 }; /* that are added at a time, so that sums are loaded and stored less often */

struct workspace {
    double b[TERMS][TILE_COLS]; /* of the rows of B that are being added */
    double ref[TILE_ROWS * TILE_COLS];
    double G[TILE_ROWS * TILE_COLS];
};

/* Compiled for several instruction sets, of which the program takes the best that the processor
 * has. */
#if defined __x86_64__ && defined __gnu_linux__
#define EACH_PROCESSOR __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define EACH_PROCESSOR
#endif
#ifdef __clang__
#define VECTORIZED /* clang vectorizes, and contracts a * b + c, by itself */
#else
#define VECTORIZED __attribute__((optimize("O3", "fp-contract=fast"))) /* -std=c11 forbids it */
#endif

/* ref += a b and G += |a||b| on a row of a tile. */
VECTORIZED EACH_PROCESSOR static void add_terms(const double a[TERMS],
                                                const double b[TERMS][TILE_COLS],
                                                double *restrict ref, double *restrict G) {
    for (int j = 0; j < TILE_COLS; j++) {
        double sum = ref[j], magnitude = G[j];
        for (int t = 0; t < TERMS; t++) {
            sum += a[t] * b[t][j];
            magnitude += fabs(a[t]) * fabs(b[t][j]);
        }
        ref[j] = sum;
        G[j] = magnitude;
    }
}

static void compute_tile(const struct product *product, struct tile *tile, struct workspace *work) {
    memset(work, 0, sizeof *work);
    for (int first = 0; first < product->k; first += TERMS) {
        const int terms = min_int(TERMS, product->k - first);
        double a[TERMS] = {0}; /* with which older rows in b count for nothing */
        for (int t = 0; t < terms; t++) {
            const float *b = product->B + (size_t)(first + t) * (size_t)product->n;
            for (int j = 0; j < tile->cols; j++)
                work->b[t][j] = b[at(product->cols, tile->col + j)];
        }
        for (int i = 0; i < tile->rows; i++) {
            const size_t row = (size_t)at(product->rows, tile->row + i);
            const float *row_of_a = product->A + row * (size_t)product->k + first;
            for (int t = 0; t < terms; t++) a[t] = row_of_a[t];
            add_terms(a, work->b, work->ref + i * TILE_COLS, work->G + i * TILE_COLS);
        }
    }
    tile->ref = work->ref;
    tile->G = work->G;
}

static void product_tile(void *context, int worker, size_t index) {
    const struct product *product = context;
    struct tile tile = {.row = (int)(index / (size_t)product->tiles_across) * TILE_ROWS,
                        .col = (int)(index % (size_t)product->tiles_across) * TILE_COLS};
    tile.rows = min_int(TILE_ROWS, product->row_count - tile.row);
    tile.cols = min_int(TILE_COLS, product->col_count - tile.col);
    if (product->wanted && !product->wanted(product->context, worker, &tile)) return;
    compute_tile(product, &tile, &product->workspace[worker]);
    product->consume(product->context, worker, &tile);
}

bool product_run(struct product *product) {
    struct parallel_job job = {.body = product_tile, .context = product};
    if (product->row_count == 0 || product->col_count == 0) return true;
    const double work = (double)product->row_count * product->col_count * product->k;
    product->tiles_across = (product->col_count - 1) / TILE_COLS + 1;
    job.count = ((size_t)(product->row_count - 1) / TILE_ROWS + 1) * (size_t)product->tiles_across;
    const int workers = worker_count(job.count, work);
    product->workspace = aligned_alloc(64, (size_t)workers * sizeof *product->workspace);
    if (!product->workspace) return false;
    parallel_run(&job, workers);
    free(product->workspace);
    return true;
}

struct reference_out {
    double *ref, *G;
    int col_count;
};

static void copy_tile(void *context, int worker, const struct tile *tile) {
    struct reference_out *out = context;
    for (int i = 0; i < tile->rows; i++) {
        size_t to = (size_t)(tile->row + i) * (size_t)out->col_count + (size_t)tile->col;
        size_t bytes = (size_t)tile->cols * sizeof(double);
        memcpy(out->ref + to, tile->ref + i * TILE_COLS, bytes);
        memcpy(out->G + to, tile->G + i * TILE_COLS, bytes);
    }
    (void)worker;
}

bool reference(const float *A, const float *B, int n, int k, const int *rows, int row_count,
               const int *cols, int col_count, double *ref, double *G) {
    struct reference_out out = {ref, G, col_count};
    struct product product = {A, B, n, k, rows, cols, row_count, col_count, NULL, copy_tile, &out};
    return product_run(&product);
}
