/* What the files of this lab share. C = A B, A is m x k, B is k x n, C is m x n, row-major and
 * without padding, so element (row, col) of a matrix with cols columns is at [row * cols + col]. */
#ifndef LAB_SGEMM_H
#define LAB_SGEMM_H
#include "../engine/lab.h"
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Positions in lab.params. */
enum { PARAM_M, PARAM_N, PARAM_K };

/* m, n or k: kernels index with int, and lab.c allows no more. */
static inline int shape_size(const struct shape *shape, int param) { return (int)shape->of[param]; }

/* --- fill.c: what A and B hold, a pure function of the fill and the seed ---------------------- */

/* Positions in lab.arrays. */
enum matrix_name { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_COUNT };

/* Positions in lab.fills, which says what they are. */
enum fill {
    FILL_RANDOM,
    FILL_ONES_TWOS,
    FILL_IDENTITY,
    FILL_INDEX,
    FILL_EXACT, /* integers that TF32 and BF16 cannot hold and float32 adds up exactly */
    FILL_EXTREMES,
    FILL_COUNTING,
    FILL_COUNT
};

/* Element (row, col) of matrix A or B, rows x cols, of a fill and seed: a pure function, so that
 * any part of a matrix can be made again anywhere. */
float fill_element(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                   int row, int col);

/* All of it into out[rows * cols], the caller's; on all cores when it is large. */
void fill_matrix(enum fill fill, uint64_t seed, enum matrix_name which, int rows, int cols,
                 float *out);

/* In a fill whose values are their own places, element (row, col) of a matrix with cols columns is
 * row * place_base(cols) + col (the row modulo so many that it stays below 2^24). */
int64_t place_base(int cols);

/* ref = A B and G = |A||B| in double precision, for any rows and any columns of C:
 * ref[i * col_count + j] belongs to element (rows[i], cols[j]). rows == NULL means 0, 1, 2, ...,
 * and so does cols == NULL. All memory is the caller's. False: no memory for the workspace. */
bool reference(const float *A, const float *B, int n, int k, const int *rows, int row_count,
               const int *cols, int col_count, double *ref, double *G);

/* --- verify.c: the verdict on C --------------------------------------------------------------- */

#define UNIT_ROUNDOFF 0x1p-24 /* u of float32 */

/* gamma_n = n u / (1 - n u): for n >= k + 2 no order of summation, with or without FMA, strays
 * further from A B than gamma_n |A||B| (Higham, Accuracy and Stability of Numerical Algorithms,
 * 2nd ed., section 3.1). Infinite when n u >= 1. */
double gamma_bound(int64_t n);

/* How C is compared with the reference. */
enum comparison {
    COMPARE_BOUND,   /* |C - ref| <= gamma_{k+2} G */
    COMPARE_FLOAT32, /* that, and the errors must be those of float32; zero-mean inputs only */
    COMPARE_EXACT,   /* C == ref */
};

/* The strictest comparison that every correct float32 kernel passes with this fill. */
enum comparison fill_comparison(enum fill fill, int m, int n, int k);

/* With COMPARE_FLOAT32 a result is not float32 when its largest |C - ref| / G is above the first,
 * or the root of the mean square above the second. Both in units of u. */
#define FLOAT32_MAX_U 32.0
#define FLOAT32_RMS_U 4.0
static inline bool is_float32(const struct verdict *v) {
    return v->max_error_u <= FLOAT32_MAX_U && v->rms_error_u <= FLOAT32_RMS_U;
}

struct problem {
    int m, n, k;
    const float *A, *B, *C;
    enum comparison comparison;
    uint64_t seed; /* chooses the sample of a large C that is explained */
};

/* Compares every element of C with the reference. The verdict does not depend on the number of
 * threads (but for the last bits of rms_error_u). False: no memory; *verdict is then meaningless.
 */
bool verify(const struct problem *problem, struct verdict *verdict);

/* --- verdict/: what a wrong C is instead ------------------------------------------------------ */

/* Explain the verdict of verify() on the same problem. Returns how many
 * explanations there are, the one that covers most first; 0 when nothing fits, and when several
 * explanations fit equally well (constant inputs), so that what is said can be believed. Large
 * products are judged by a sample of their elements. */
int explain(const struct problem *problem, const struct verdict *verdict,
            struct explanation out[EXPLANATIONS]);

#ifdef __cplusplus
}
#endif
#endif
