/* C = A B for the checker: its matrices, as make check (check_run.cu) and the grader's worker
 * (../grader/worker/watch_checked.c) describe them. ../docs/maintainer.md
 * lists the other places that know of SGEMM. */
#ifndef LAB_SGEMM_H
#define LAB_SGEMM_H
#include "../engine/engine.h"
#include "../support.h"
#include <string.h>

/* A run of basicSgemm(m, n, k, A, B, C) with these three on the device; the caller completes it. */
static inline struct checked_run sgemm_run(int m, int n, int k, const float *A, const float *B,
                                           const float *C, const void *wrapper) {
    const struct checked_matrix matrices[CHECKED_MATRICES] = {
        {A, "A", m, k, true, true, false, true},
        {B, "B", k, n, true, false, true, false},
        {C, "C", m, n, false, true, true, false},
    };
    struct checked_run run;
    memset(&run, 0, sizeof run);
    memcpy(run.matrices, matrices, sizeof matrices);
    run.wrapper = wrapper;
    return run;
}

#endif
