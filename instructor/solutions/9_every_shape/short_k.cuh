/* A k of a few and a C that is written in no more time than a launch takes. All that counts is how
 * soon the kernel has begun and how much code it is: it has one answer of memory to wait for, no
 * loop and no shuffle. Its warps write whole lines of C. */
#pragma once
#include "model.cuh"
#include "problem.cuh"

/* R rows of a thread's column of C, and a k of K at most. */
template <int R, int K>
__global__ void __launch_bounds__(THREADS) mysgemm_short_k(const Problem p)
{
    const int col = blockIdx.x * 32 + threadIdx.x;
    const int row = (blockIdx.y * (THREADS / 32) + threadIdx.y) * R;
    float sum[R] = {};

    if (col >= p.n)
        return;
#pragma unroll
    for (int i = 0; i < K; ++i) {
        const float b = i < p.k ? p.B[(size_t)i * p.n + col] : 0.0f;
#pragma unroll
        for (int r = 0; r < R; ++r)
            sum[r] += (i < p.k && row + r < p.m ? p.A[(size_t)(row + r) * p.k + i] : 0.0f) * b;
    }
#pragma unroll
    for (int r = 0; r < R; ++r)
        if (row + r < p.m)
            store<1>(p, row + r, col, {p.alpha * sum[r]});
}

template <int R, int K>
static void launch_short_k(const Kernel &, const Problem &p, const Plan &plan)
{
    mysgemm_short_k<R, K><<<dim3(plan.tiles_n, plan.tiles_m), dim3(32, THREADS / 32)>>>(p);
}

template <int R, int K>
static Kernel short_k(const Cost &cost)
{
    Kernel kernel = {THREADS / 32 * R, 32, K, ANY, ANY, K, launch_short_k<R, K>, cost};
    kernel.splits = false;
    return kernel;
}
