/* The reference: A B and |A||B| in double precision, on all cores and vector units.
 *
 * Blocked and packed as in Goto and van de Geijn, "Anatomy of high-performance matrix
 * multiplication", ACM TOMS 34(3), 2008: C is cut into tiles, k into slices; the slices of A and B
 * that a tile needs are converted to double and laid out in the order in which a microkernel, whose
 * accumulators are all registers, reads them. Each thread takes whole tiles, and a tile is handed
 * to its consumer as soon as it is done, so no m x n array of doubles ever exists.
 */
#include "../engine/cores.h"
#include "../engine/report/text/numbers.h"
#include "product.h"
#include "sgemm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ref += a b and G += |a||b| on ROWS x COLS elements of a tile, over `depth` terms.
 * a: for each term ROWS values, then their ROWS magnitudes. b: for each term COLS values. */
typedef void microkernel(int depth, const double *a, const double *b, double *ref, double *G);

/* Vectors are the compilers' own extension, so one text serves every instruction set. ROWS is
 * chosen so that 4 * ROWS accumulators, two vectors of b and one of a fill the registers.
 * Magnitudes of a come packed, those of b by clearing the sign bit of the vectors at hand. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#define FUSED /* clang contracts a * b + c by itself */
#else
#define UNROLL _Pragma("GCC unroll 16")
#define FUSED __attribute__((optimize("O3", "fp-contract=fast"))) /* -std=c11 forbids it */
#endif

#define DEFINE_MICROKERNEL(NAME, TARGET, BYTES, ROWS)                                              \
    FUSED TARGET static void NAME(int depth, const double *a, const double *b, double *ref,        \
                                  double *G) {                                                     \
        typedef double vec __attribute__((vector_size(BYTES), may_alias));                         \
        typedef int64_t bits __attribute__((vector_size(BYTES), may_alias));                       \
        enum { WIDTH = BYTES / 8 };                                                                \
        const bits magnitude = (bits){0} + INT64_MAX;                                              \
        vec r[ROWS][2], g[ROWS][2];                                                                \
        UNROLL for (int i = 0; i < ROWS; i++) r[i][0] = r[i][1] = g[i][0] = g[i][1] = (vec){0};    \
        for (int p = 0; p < depth; p++, a += 2 * ROWS, b += 2 * WIDTH) {                           \
            vec b0 = ((const vec *)b)[0], b1 = ((const vec *)b)[1];                                \
            UNROLL for (int i = 0; i < ROWS; i++) {                                                \
                r[i][0] += a[i] * b0;                                                              \
                r[i][1] += a[i] * b1;                                                              \
            }                                                                                      \
            b0 = (vec)((bits)b0 & magnitude);                                                      \
            b1 = (vec)((bits)b1 & magnitude);                                                      \
            UNROLL for (int i = 0; i < ROWS; i++) {                                                \
                g[i][0] += a[ROWS + i] * b0;                                                       \
                g[i][1] += a[ROWS + i] * b1;                                                       \
            }                                                                                      \
        }                                                                                          \
        UNROLL for (int i = 0; i < ROWS; i++) {                                                    \
            vec *ref_row = (vec *)(ref + i * TILE_COLS), *G_row = (vec *)(G + i * TILE_COLS);      \
            ref_row[0] += r[i][0];                                                                 \
            ref_row[1] += r[i][1];                                                                 \
            G_row[0] += g[i][0];                                                                   \
            G_row[1] += g[i][1];                                                                   \
        }                                                                                          \
    }

#if defined(__x86_64__)
#define BASELINE_ROWS 3 /* 16 registers */
#else
#define BASELINE_ROWS 6 /* 32 registers, as on aarch64 */
#endif
DEFINE_MICROKERNEL(microkernel_baseline, , 16, BASELINE_ROWS)
#if defined(__x86_64__)
DEFINE_MICROKERNEL(microkernel_avx2, __attribute__((target("avx2,fma"))), 32, 3)
DEFINE_MICROKERNEL(microkernel_avx512, __attribute__((target("avx512f"))), 64, 6)
#endif

struct isa_entry {
    const char *name;
    microkernel *run; /* NULL: not compiled for this machine */
    int rows, cols;
};

static const struct isa_entry isa_table[ISA_COUNT] = {
    [ISA_BASELINE] = {"baseline", microkernel_baseline, BASELINE_ROWS, 4},
#if defined(__x86_64__)
    [ISA_AVX2] = {"avx2", microkernel_avx2, 3, 8},
    [ISA_AVX512] = {"avx512", microkernel_avx512, 6, 16},
#else
    [ISA_AVX2] = {"avx2", NULL, 0, 0},
    [ISA_AVX512] = {"avx512", NULL, 0, 0},
#endif
};

static enum isa chosen_isa = ISA_COUNT; /* reference_set_isa(); ISA_COUNT: the best */

static bool isa_available(enum isa isa) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (isa == ISA_AVX2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == ISA_AVX512) return __builtin_cpu_supports("avx512f");
#endif
    return isa == ISA_BASELINE;
}

bool reference_set_isa(enum isa isa) {
    if (!isa_available(isa)) return false;
    chosen_isa = isa;
    return true;
}

enum isa reference_isa(void) {
    if (chosen_isa != ISA_COUNT) return chosen_isa;
    int best = ISA_COUNT - 1;
    while (!isa_available((enum isa)best)) best--;
    return (enum isa)best;
}

const char *isa_name(enum isa isa) { return isa_table[isa].name; }

struct workspace {
    double a[2 * TILE_ROWS * SLICE];
    double b[SLICE * TILE_COLS];
    double ref[TILE_ROWS * TILE_COLS];
    double G[TILE_ROWS * TILE_COLS];
};

/* Terms [first, first + depth) of the tile's rows of A, for microkernels of `height` rows; rows
 * that are missing from the last of them are zero. */
static void pack_a(const struct product *product, const struct tile *tile, int first, int depth,
                   double *out) {
    int height = product->isa->rows;
    for (int top = 0; top < tile->rows; top += height) {
        for (int i = 0; i < height; i++) {
            double *o = out + i;
            if (top + i >= tile->rows) {
                for (int p = 0; p < depth; p++, o += 2 * height) o[0] = o[height] = 0.0;
                continue;
            }
            int row = at(product->rows, tile->row + top + i);
            const float *a = product->A + (size_t)row * (size_t)product->k + first;
            for (int p = 0; p < depth; p++, o += 2 * height) {
                o[0] = a[p];
                o[height] = fabs(a[p]);
            }
        }
        out += 2 * (size_t)height * (size_t)depth;
    }
}

/* The same terms of the tile's columns of B, for microkernels of `width` columns. */
static void pack_b(const struct product *product, const struct tile *tile, int first, int depth,
                   double *out) {
    int width = product->isa->cols;
    size_t panel = (size_t)width * (size_t)depth;
    for (int p = 0; p < depth; p++) {
        const float *b = product->B + (size_t)(first + p) * (size_t)product->n;
        double *o = out + (size_t)p * (size_t)width;
        for (int left = 0; left < tile->cols; left += width, o += panel) {
            int present = min_int(width, tile->cols - left);
            if (product->cols) {
                for (int j = 0; j < present; j++) o[j] = b[product->cols[tile->col + left + j]];
            } else {
                for (int j = 0; j < present; j++) o[j] = b[tile->col + left + j];
            }
            for (int j = present; j < width; j++) o[j] = 0.0;
        }
    }
}

static void compute_tile(const struct product *product, struct tile *tile, struct workspace *work) {
    int height = product->isa->rows, width = product->isa->cols;
    memset(work->ref, 0, sizeof work->ref);
    memset(work->G, 0, sizeof work->G);
    for (int first = 0; first < product->k; first += SLICE) {
        int depth = min_int(SLICE, product->k - first);
        pack_a(product, tile, first, depth, work->a);
        pack_b(product, tile, first, depth, work->b);
        for (int left = 0; left < tile->cols; left += width) {
            for (int top = 0; top < tile->rows; top += height) {
                size_t place = (size_t)top * TILE_COLS + (size_t)left;
                product->isa->run(depth, work->a + 2 * top * depth, work->b + left * depth,
                                  work->ref + place, work->G + place);
            }
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

static int product_workers(const struct product *product) {
    size_t down = ((size_t)product->row_count + TILE_ROWS - 1) / TILE_ROWS;
    size_t across = ((size_t)product->col_count + TILE_COLS - 1) / TILE_COLS;
    double work = (double)product->row_count * product->col_count * product->k;
    return worker_count(down * across, work);
}

bool product_run(struct product *product, struct parallel_job job) {
    if (product->row_count == 0 || product->col_count == 0) return true;
    int workers = product_workers(product);
    size_t down = ((size_t)product->row_count + TILE_ROWS - 1) / TILE_ROWS;
    product->tiles_across = (product->col_count - 1) / TILE_COLS + 1;
    product->isa = &isa_table[reference_isa()];
    product->workspace = aligned_alloc(64, (size_t)workers * sizeof *product->workspace);
    if (!product->workspace) return false;
    job.body = product_tile;
    job.context = product;
    job.count = down * (size_t)product->tiles_across;
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
    struct product product = {.A = A,
                              .B = B,
                              .n = n,
                              .k = k,
                              .rows = rows,
                              .cols = cols,
                              .row_count = row_count,
                              .col_count = col_count,
                              .consume = copy_tile,
                              .context = &out};
    return product_run(&product, (struct parallel_job){0});
}
