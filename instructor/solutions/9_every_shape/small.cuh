/* Small: products that take no longer than a launch. A kernel's code has to come from memory as A
 * and B do, so one that is short, with no shared memory and no barrier, is the faster one. A team
 * of 1 to 32 lanes of a warp does R x N elements of C; its lanes lie along k, and add up their sums
 * by shuffles. */
#pragma once
#include "model.cuh"
#include "problem.cuh"

/* The lanes of a team, and the teams beside one another, by their logarithms. */
template <int R, int N, int AT_ONCE>
__global__ void __launch_bounds__(THREADS)
mysgemm_small(const Problem p, int log_lanes, int log_across)
{
    const int lanes = 1 << log_lanes, across = 1 << log_across, team = threadIdx.x >> log_lanes;
    const int row = ((blockIdx.x * (THREADS >> log_lanes) + team) >> log_across) * R;
    const int col = (blockIdx.y * across + (team & (across - 1))) * N;
    float sum[R * N] = {};

#pragma unroll 1
    for (int i0 = (threadIdx.x & (lanes - 1)); i0 < p.k; i0 += AT_ONCE * lanes) {
        float a[AT_ONCE][R], b[AT_ONCE][N];
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            const int i = i0 + u * lanes;
#pragma unroll
            for (int r = 0; r < R; ++r)
                a[u][r] = i < p.k && row + r < p.m ? p.A[(size_t)(row + r) * p.k + i] : 0.0f;
#pragma unroll
            for (int c = 0; c < N; ++c)
                b[u][c] = i < p.k && col + c < p.n ? p.B[(size_t)i * p.n + col + c] : 0.0f;
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u)
#pragma unroll
            for (int e = 0; e < R * N; ++e)
                sum[e] += a[u][e / N] * b[u][e % N];
    }
#pragma unroll 1
    for (int half = lanes / 2; half > 0; half /= 2)
#pragma unroll
        for (int e = 0; e < R * N; ++e)
            sum[e] += __shfl_xor_sync(0xffffffff, sum[e], half);
    if ((threadIdx.x & (lanes - 1)) == 0)
#pragma unroll
        for (int e = 0; e < R * N; ++e)
            if (row + e / N < p.m && col + e % N < p.n)
                store<1>(p, row + e / N, col + e % N, {p.alpha * sum[e]});
}

/* Lanes and teams, by their logarithms, are no more to the kernel than arguments. */
template <int R, int N, int U, int LANES, int ACROSS>
static void launch_small(const Kernel &, const Problem &p, const Plan &plan)
{
    const dim3 grid(plan.tiles_m, plan.tiles_n);
    mysgemm_small<R, N, U><<<grid, THREADS>>>(p, LANES, ACROSS);
}

template <int R, int N, int U, int LANES, int ACROSS>
static Kernel small(const Cost &cost)
{
    const int rows = (THREADS >> LANES >> ACROSS) * R, cols = N << ACROSS;
    auto launch = launch_small<R, N, U, LANES, ACROSS>;
    Kernel kernel = {rows, cols, U << LANES, ANY, 65535 * cols, ANY, launch, cost};
    kernel.splits = false;
    return kernel;
}
