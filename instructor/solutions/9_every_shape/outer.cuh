/* Outer products, for a k of a few: each thread keeps its columns of B in registers, and the kernel
 * does little else than write C, which is what limits it. Loads and stores of four bytes are no
 * slower here than of sixteen: a warp writes whole lines either way. */
#pragma once
#include "model.cuh"
#include "problem.cuh"

/* A block does ROWS rows; LANES threads do a row of it, four columns each. */
template <int K, int LANES, int ROWS>
__global__ void __launch_bounds__(THREADS) mysgemm_outer(const Problem p)
{
    __shared__ float A_s[ROWS * K];
    const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * (4 * LANES) + threadIdx.x % LANES;
    float b[K][4];

#pragma unroll
    for (int i = 0; i < K; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
            b[i][j] = i < p.k && col0 + LANES * j < p.n ? p.B[(size_t)i * p.n + col0 + LANES * j]
                                                        : 0.0f;
    for (int e = threadIdx.x; e < ROWS * K; e += THREADS) {
        const int row = row0 + e / K, i = e % K;
        A_s[e] = row < p.m && i < p.k ? p.alpha * p.A[(size_t)row * p.k + i] : 0.0f;
    }
    __syncthreads();
#pragma unroll 4
    for (int r = threadIdx.x / LANES; r < min(ROWS, p.m - row0); r += THREADS / LANES) {
        float sum[4] = {};
#pragma unroll
        for (int i = 0; i < K; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
                sum[j] += A_s[r * K + i] * b[i][j];
#pragma unroll
        for (int j = 0; j < 4; ++j)
            if (col0 + LANES * j < p.n)
                store<1>(p, row0 + r, col0 + LANES * j, {sum[j]});
    }
}

template <int K, int LANES, int ROWS>
static void launch_outer(const Kernel &, const Problem &p, const Plan &plan)
{
    mysgemm_outer<K, LANES, ROWS><<<dim3(plan.tiles_n, plan.tiles_m), THREADS>>>(p);
}

template <int K, int LANES, int ROWS>
static Kernel outer(const Cost &cost)
{
    Kernel kernel = {ROWS, 4 * LANES, K, ANY, ANY, K, launch_outer<K, LANES, ROWS>, cost};
    kernel.splits = false;
    return kernel;
}
