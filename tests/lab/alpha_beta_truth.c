/* C = 2 A B - 3 C: what is right. An example of docs/instructor.md: a lab/truth.c for another
 * signature. */
#include "sgemm.h"
#include <math.h>

enum { ALPHA = 2, BETA = -3 }; /* as call.cu has them */

static void fill(const struct lab_case *c, void *const arrays[LAB_ARRAYS]) {
    const int m = (int)c->shape.of[PARAM_M], n = (int)c->shape.of[PARAM_N],
              k = (int)c->shape.of[PARAM_K];
    fill_matrix((enum fill)c->fill, c->seed, MATRIX_A, m, k, arrays[MATRIX_A]);
    fill_matrix((enum fill)c->fill, c->seed, MATRIX_B, k, n, arrays[MATRIX_B]);
    fill_matrix(FILL_RANDOM, c->seed, MATRIX_C, m, n, arrays[MATRIX_C]);
}

/* Element i of C, and the sum of its terms without their signs. */
static double element(const struct lab_case *c, const void *const inputs[LAB_ARRAYS], int64_t i,
                      double *size) {
    const float *A = inputs[MATRIX_A], *B = inputs[MATRIX_B];
    const int64_t m = c->shape.of[PARAM_M], n = c->shape.of[PARAM_N], k = c->shape.of[PARAM_K];
    double sum = BETA * (double)fill_element(FILL_RANDOM, c->seed, MATRIX_C, (int)m, (int)n,
                                             (int)(i / n), (int)(i % n));
    *size = fabs(sum);
    for (int64_t p = 0; p < k; p++) {
        const double term = ALPHA * (double)A[i / n * k + p] * (double)B[p * n + i % n];
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

static void correct(const struct lab_case *c, const void *const inputs[LAB_ARRAYS],
                    void *const right[LAB_ARRAYS]) {
    double size;
    for (int64_t i = 0; i < c->shape.of[PARAM_M] * c->shape.of[PARAM_N]; i++)
        ((float *)right[MATRIX_C])[i] = (float)element(c, inputs, i, &size);
}

static double bound(const struct lab_case *c, const void *const inputs[LAB_ARRAYS], int array,
                    int64_t i) {
    double size = 0;
    (void)array;
    element(c, inputs, i, &size);
    return gamma_bound(c->shape.of[PARAM_K] + 4) * size;
}

static double operations(const struct shape *s) {
    return 2.0 * (double)(s->of[PARAM_M] * s->of[PARAM_N] * s->of[PARAM_K]);
}

const struct lab_truth lab_truth = {.fill = fill,
                                    .reference = correct,
                                    .bound = bound,
                                    .operations = operations,
                                    .naive_loads = operations};
