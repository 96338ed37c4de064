/* What the files of this lab share. C = A B; A is m x k, B is k x n, C is m x n. */
#ifndef LAB_SGEMM_H
#define LAB_SGEMM_H
#include "../engine/lab.h"
#include "../engine/show/sum.h"
#include "fill.h"
#include <string.h>

/* Positions in lab.params. */
enum { PARAM_M, PARAM_N, PARAM_K };

/* m, n or k: kernels index with int, and lab.c allows no more. */
static inline int shape_size(const struct shape *shape, int param) { return (int)shape->of[param]; }

/* C[i][j] = sum of A[i][p] * B[p][j], p < k. */
static inline struct array_sum sgemm_sum(int k) {
    enum { ROW, COLUMN };
    struct array_sum sum;
    memset(&sum, 0, sizeof sum);
    sum.output = MATRIX_C;
    sum.terms = k;
    sum.factors = 2;
    sum.factor[0].array = MATRIX_A;
    sum.factor[0].index[0] = ROW;
    sum.factor[0].index[1] = SUM_TERM;
    sum.factor[1].array = MATRIX_B;
    sum.factor[1].index[0] = SUM_TERM;
    sum.factor[1].index[1] = COLUMN;
    return sum;
}

#endif
