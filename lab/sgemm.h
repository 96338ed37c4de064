/* C = A B for the engine: its arrays, as make check (check_run.cu) and the grader's worker
 * (../grader/worker/watch_checked.c) describe them. ../docs/maintainer.md lists the other places
 * that know of SGEMM. */
#ifndef LAB_SGEMM_H
#define LAB_SGEMM_H
#include "../engine/engine.h"
#include "../engine/show/sum.h"
#include "../support.h"
#include <string.h>

/* Of struct engine_run.arrays. */
enum { SGEMM_A, SGEMM_B, SGEMM_C, SGEMM_ARRAYS };

/* rows x cols floats. */
static inline struct engine_array sgemm_array(const char *name, const float *elements,
                                              enum role role, int rows, int cols) {
    struct engine_array array;
    memset(&array, 0, sizeof array);
    array.elements = elements;
    array.name = name;
    array.element = ELEMENT_F32;
    array.role = role;
    array.dimensions = 2;
    array.extent[0] = rows;
    array.extent[1] = cols;
    array.phase_axis = -1;
    for (int i = 0; i < 3; i++) array.axis_of[i] = -1;
    return array;
}

/* A run of basicSgemm(m, n, k, A, B, C) with these three on the device; the caller completes it. */
static inline struct engine_run sgemm_run(int m, int n, int k, const float *A, const float *B,
                                          const float *C, const void *wrapper) {
    enum { X, Y, ROW = 0, COLUMN = 1 };
    struct engine_run run;
    memset(&run, 0, sizeof run);
    run.arrays[SGEMM_A] = sgemm_array("A", A, ROLE_INPUT, m, k);
    run.arrays[SGEMM_B] = sgemm_array("B", B, ROLE_INPUT, k, n);
    run.arrays[SGEMM_C] = sgemm_array("C", C, ROLE_OUTPUT, m, n);
    run.arrays[SGEMM_A].phase_axis = COLUMN; /* a tile's width in each phase */
    run.arrays[SGEMM_A].axis_of[Y] = ROW;
    run.arrays[SGEMM_B].axis_of[X] = COLUMN;
    run.arrays[SGEMM_C].axis_of[Y] = ROW;
    run.arrays[SGEMM_C].axis_of[X] = COLUMN;
    run.wrapper = wrapper;
    return run;
}

/* C[i][j] = sum of A[i][p] * B[p][j], p < k. */
static inline struct array_sum sgemm_sum(int k) {
    enum { ROW, COLUMN };
    struct array_sum sum;
    memset(&sum, 0, sizeof sum);
    sum.output = SGEMM_C;
    sum.terms = k;
    sum.factors = 2;
    sum.factor[0].array = SGEMM_A;
    sum.factor[0].index[0] = ROW;
    sum.factor[0].index[1] = SUM_TERM;
    sum.factor[1].array = SGEMM_B;
    sum.factor[1].index[0] = SUM_TERM;
    sum.factor[1].index[1] = COLUMN;
    return sum;
}

#endif
