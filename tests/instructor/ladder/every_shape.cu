/* Every shape of tiles that 8_best.cu has, on problems of all kinds, with and without sharing:
 * which of them `sgemm` takes depends on the number of multiprocessors, here this machine's cores.
 * Prints what is wrong, and ends with 1 then; the number of problems, and 0, if nothing is.
 * ../test_ladder.py runs it. */
#pragma GCC optimize 1 /* or compiling takes longer than running */
#include "../../../instructor/solutions/8_best.cu"
#include "../../emulator/programs/check.h"
#include <math.h>

static int problems;

static float *new_matrix(size_t elements, unsigned seed) {
    float *p;
    OK(cudaMallocManaged(&p, elements * sizeof *p));
    for (size_t i = 0; i < elements; ++i) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = seed ? (float)(int)(seed >> 28) - 8 : NAN; /* every sum is exact */
    }
    return p;
}

/* C = 2 A B - C, by one shape and so many blocks that share. */
template <class S>
static void problem(const char *name, int m, int n, int k, int processors, bool wants_sharing) {
    const Cost cost = {1, 0, wants_sharing ? -1e9 : 1e9, 0};
    const Plan p = plan<S>(m, n, k, {processors, S::SHARED_BYTES}, cost);
    float *A = new_matrix((size_t)m * k, 1), *B = new_matrix((size_t)k * n, 2);
    float *C = new_matrix((size_t)m * n, 3), *old = new_matrix((size_t)m * n, 3);
    CHECK(isfinite(p.cost));

    launch<S>(p, m, n, k, 2, A, B, -1, C);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int l = 0; l < k; ++l) sum += A[(size_t)i * k + l] * B[(size_t)l * n + j];
            const float expected = 2 * sum - old[(size_t)i * n + j], got = C[(size_t)i * n + j];
            if (got == expected) continue;
            printf("%s, m=%d n=%d k=%d, %d processors%s: C[%d][%d] is %g, not %g\n", name, m, n, k,
                   processors, wants_sharing ? ", shared" : "", i, j, got, expected);
            exit(1);
        }
    ++problems;
    OK(cudaFree(A));
    OK(cudaFree(B));
    OK(cudaFree(C));
    OK(cudaFree(old));
}

/* One tile; tiles that overlap; a rim; rows that are no vectors; k below, at and above a step. */
template <class S> static void shape(const char *name) {
    const int step = S::BK * S::SLICES;
    /* Not where a tile does not fit, nor where the GPU has too little shared memory. */
    CHECK(!isfinite(plan<S>(S::BM - 1, S::BN, 1, {3, S::SHARED_BYTES}, {}).cost));
    CHECK(!isfinite(plan<S>(S::BM, S::BN - 1, 1, {3, S::SHARED_BYTES}, {}).cost));
    CHECK(!isfinite(plan<S>(S::BM, S::BN, 1, {3, S::SHARED_BYTES - 1}, {}).cost));
    const int ks[] = {1, step - 1, step, 3 * step + 5, 9 * step};
    for (int k : ks)
        for (int sharing = 0; sharing <= S::SHARES; ++sharing) {
            problem<S>(name, S::BM, S::BN, k, 3, sharing);
            problem<S>(name, S::BM + 5, S::BN + 8, k, 7, sharing);
            problem<S>(name, S::BM + 3, S::BN + 7, k, 11, sharing);
            problem<S>(name, S::BM + 1, S::BN + 3, k, 5, sharing);
        }
}

int main(void) {
    shape<Large>("Large");
    shape<Medium>("Medium");
    shape<Narrow>("Narrow");
    shape<Little>("Little");
    shape<Deep>("Deep");
    printf("%d problems\n", problems);
    return 0;
}
