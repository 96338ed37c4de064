/* Outer products, for a k of a few: each thread keeps its columns of B in registers, and the kernel
 * does little else than write C, which is what limits it. */
#pragma once
#include "model.cuh"
#include "problem.cuh"

/* ROWS rows and 4 * LANES columns a block, four a thread. */
template <int K, int LANES, int ROWS, bool WIDE>
__global__ void __launch_bounds__(THREADS) mysgemm_outer(const Problem p)
{
    constexpr int V = WIDE ? 4 : 1, PIECES = 4 / V, WARPS = THREADS / LANES;
    __shared__ float A_s[ROWS * K];
    const int x = threadIdx.x % LANES, y = threadIdx.x / LANES;
    const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * (4 * LANES);
    float b[K][4];

#pragma unroll
    for (int i = 0; i < K; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int col = col0 + (WIDE ? 4 * x + j : x + LANES * j);
            b[i][j] = i < p.k && col < p.n ? p.B[(size_t)i * p.n + col] : 0.0f;
        }
    for (int e = threadIdx.x; e < ROWS * K; e += THREADS) {
        const int row = row0 + e / K, i = e % K;
        A_s[e] = row < p.m && i < p.k ? p.alpha * p.A[(size_t)row * p.k + i] : 0.0f;
    }
    __syncthreads();
#pragma unroll 4
    for (int r = y; r < min(ROWS, p.m - row0); r += WARPS) {
        float sum[4] = {};
#pragma unroll
        for (int i = 0; i < K; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
                sum[j] += A_s[r * K + i] * b[i][j];
#pragma unroll
        for (int j = 0; j < PIECES; ++j) {
            const int col = col0 + (WIDE ? 4 * x : x + LANES * j);
            Piece<V> v;
#pragma unroll
            for (int e = 0; e < V; ++e)
                v.of[e] = sum[j * V + e];
            if (col < p.n)
                store<V>(p, row0 + r, col, v);
        }
    }
}

template <int K, int LANES, int ROWS>
static void launch_outer(const Problem &p, const Plan &plan, int)
{
    const dim3 grid(plan.tiles_n, plan.tiles_m);
    if (is_wide(p))
        mysgemm_outer<K, LANES, ROWS, true><<<grid, THREADS>>>(p);
    else
        mysgemm_outer<K, LANES, ROWS, false><<<grid, THREADS>>>(p);
}

template <int K, int LANES, int ROWS>
static Kernel outer(const Cost &cost)
{
    const bool splits = false;
    return {ROWS, 4 * LANES, K, ANY, ANY, K, launch_outer<K, LANES, ROWS>, cost, splits};
}
