/* Outer products, for a k of a few: each thread keeps its columns of B in registers, and the kernel
 * does little else than write C, which is what limits it. Loads and stores of four bytes are no
 * slower here than of sixteen: a warp writes whole lines either way. So it does where a block has
 * whole rows of C, whatever their length: the next row begins where the last one ends. */
#pragma once
#include "model.cuh"
#include "problem.cuh"

/* A block does ROWS rows; LANES threads do a row of it, J columns each. LANES: 0 for as many as a
 * row of C takes. */
template <int K, int J, int LANES, int ROWS>
__global__ void __launch_bounds__(THREADS) mysgemm_outer(const Problem p)
{
    __shared__ float4 A_s4[ROWS * K / 4];
    float *const A_s = (float *)A_s4;
    const int lanes = LANES > 0 ? LANES : (p.n + J - 1) / J;
    const int x = threadIdx.x % lanes, apart = THREADS / lanes;
    const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * (J * lanes) + x;
    float b[K][J];

#pragma unroll
    for (int i = 0; i < K; ++i)
#pragma unroll
        for (int j = 0; j < J; ++j)
            b[i][j] =
                i < p.k && col0 + lanes * j < p.n ? p.B[(size_t)i * p.n + col0 + lanes * j] : 0.0f;
    for (int e = threadIdx.x; e < ROWS * K; e += THREADS) {
        const int row = row0 + e / K, i = e % K;
        A_s[e] = row < p.m && i < p.k ? p.alpha * p.A[(size_t)row * p.k + i] : 0.0f;
    }
    __syncthreads();
    if (LANES == 0 && (int)threadIdx.x >= apart * lanes)
        return;
#pragma unroll(K <= 8 ? 4 : 1)
    for (int r = threadIdx.x / lanes; r < min(ROWS, p.m - row0); r += apart) {
        float sum[J] = {};
#pragma unroll
        for (int i = 0; i < K; ++i)
#pragma unroll
            for (int j = 0; j < J; ++j)
                sum[j] += A_s[r * K + i] * b[i][j];
#pragma unroll
        for (int j = 0; j < J; ++j)
            if (col0 + lanes * j < p.n)
                store<1>(p, row0 + r, col0 + lanes * j, {sum[j]});
    }
}

template <int K, int J, int LANES, int ROWS>
static void launch_outer(const Kernel &, const Problem &p, const Plan &plan)
{
    mysgemm_outer<K, J, LANES, ROWS><<<dim3(plan.tiles_n, plan.tiles_m), THREADS>>>(p);
}

template <int K, int J, int LANES, int ROWS>
static Kernel outer(const Cost &cost)
{
    const int cols = J * (LANES > 0 ? LANES : THREADS), most_n = LANES > 0 ? ANY : cols;
    Kernel kernel = {ROWS, cols, K, ANY, most_n, K, launch_outer<K, J, LANES, ROWS>, cost};
    kernel.splits = false;
    return kernel;
}
