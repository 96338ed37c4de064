/* 8_even_shares.cu on GPUs of other sizes: how many blocks share a tile depends on the number of
 * multiprocessors, here this machine's cores. Prints what is wrong, and ends with 1 then; the number
 * of problems, and how many of them were shared, if nothing is. ../test_ladder.py runs it. */
#pragma GCC optimize 1 /* or compiling takes longer than running */
#include <cuda_runtime.h>
static int of_gpu; /* multiprocessors */
#define cudaDeviceGetAttribute(value, what, device) (*(value) = of_gpu, cudaSuccess)
#include "../../../instructor/solutions/8_even_shares.cu"
#include "exact.h"

static int problems, shared_ones;

static void compare(int m, int n, int k, const float *A, const float *B, const float *old,
                    const float *C) {
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float sum = 0;
            for (int l = 0; l < k; ++l) sum += A[(size_t)i * k + l] * B[(size_t)l * n + j];
            const float expected = 2 * sum - old[(size_t)i * n + j], got = C[(size_t)i * n + j];
            if (got == expected) continue;
            printf("m=%d n=%d k=%d, %d multiprocessors: C[%d][%d] is %g, not %g\n", m, n, k, of_gpu,
                   i, j, got, expected);
            exit(1);
        }
}

/* C = 2 A B - C. The memory for sums that blocks share holds NaN before. */
static void problem(int m, int n, int k, int multiprocessors) {
    float *A = new_matrix((size_t)m * k, 1), *B = new_matrix((size_t)k * n, 2);
    float *C = new_matrix((size_t)m * n, 3), *old = new_matrix((size_t)m * n, 3);
    of_gpu = multiprocessors;
    parts[BM * BN] = NAN; /* where the first block puts its sums */
    sgemm(m, n, k, 2, A, B, -1, C);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
    compare(m, n, k, A, B, old, C);
    ++problems;
    shared_ones += !isnan(parts[BM * BN]);
    OK(cudaFree(A));
    OK(cudaFree(B));
    OK(cudaFree(C));
    OK(cudaFree(old));
}

/* One tile and several; rows that are no vectors; k below, at and above a step, and of many; few
 * blocks to a tile, and more than a step for each; more multiprocessors than there is room for. */
int main(void) {
    const int ks[] = {1, 53, 600, 16, 1501}, gpus[] = {1, 7, 200, 2, 3, 11, 30};
    for (int k : ks)
        for (int gpu : gpus) {
            problem(128, 256, k, gpu);
            problem(133, 264, k, gpu);
            problem(257, 259, k, gpu);
        }
    problem(131, 263, 3000, 30);
    printf("%d problems, %d shared\n", problems, shared_ones);
    return 0;
}
