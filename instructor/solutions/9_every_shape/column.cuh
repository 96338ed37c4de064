/* A matrix times a column. All that takes time is to read the matrix once, 16 bytes a load, and
 * then the way from the last load to C. So a block has all of k for its elements of C, if there are
 * enough of them: sums of other blocks would be two microseconds late. */
#pragma once
#include "along_k.cuh"

/* A team of L threads has R rows of A, 4 values of k to each load. */
template <int R, int L, int AT_ONCE>
__global__ void __launch_bounds__(L > THREADS ? L : THREADS, 1)
    mysgemm_column(const Problem p, int chunk)
{
    constexpr int BLOCK = L > THREADS ? L : THREADS, TEAMS = BLOCK / L, LANES = L < 32 ? L : 32;
    constexpr int LEFT = R > LANES ? R / LANES : 1, SAME = R < LANES ? LANES / R : 1;
    __shared__ float sums[R * (BLOCK / LANES)];
    const int team = threadIdx.x / L, lane = threadIdx.x % L, begin = blockIdx.z * chunk;
    const int row0 = blockIdx.x * (TEAMS * R), end = min(p.k, begin + chunk);
    float sum[R] = {};

#pragma unroll 1
    for (int i0 = begin + 4 * lane; i0 < end; i0 += AT_ONCE * 4 * L) {
        Piece<4> a[AT_ONCE][R], b[AT_ONCE];
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            const int i = min(i0 + u * 4 * L, end - 4);
            b[u] = *(const Piece<4> *)(p.B + i);
#pragma unroll
            for (int r = 0; r < R; ++r) {
                const int row = min(row0 + team * R + r, p.m - 1);
                a[u][r] = load_once((const Piece<4> *)(p.A + (size_t)row * p.k + i));
            }
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            const bool there = i0 + u * 4 * L < end;
#pragma unroll
            for (int e = 0; e < 4 * R; ++e)
                sum[e / 4] +=
                    (there ? a[u][e / 4].of[e % 4] : 0.0f) * (there ? b[u].of[e % 4] : 0.0f);
        }
    }
    const int first = (lane / LANES * TEAMS + team) * R + reduce_lanes<R, LANES>(sum);
    if (lane % SAME == 0)
#pragma unroll
        for (int i = 0; i < LEFT; ++i)
            sums[first + i] = sum[i];
    finish<2 * R * TEAMS <= BLOCK>(p, sums, R * TEAMS, L / LANES, BLOCK, part_of_grid(),
                                   {row0, 0, 1, 0, 0, 1});
}

template <int R, int L, int U>
static void launch_column(const Kernel &kernel, const Problem &p, const Plan &plan)
{
    const dim3 grid(plan.tiles_m, 1, plan.share);
    mysgemm_column<R, L, U><<<grid, kernel.threads>>>(p, plan.chunks * kernel.depth);
}

template <int R, int L, int U>
static Kernel column(const Cost &cost)
{
    const int block = L > THREADS ? L : THREADS;
    Kernel kernel = {block / L * R, 1, 4 * L * U, ANY, 1, ANY, launch_column<R, L, U>, cost};
    kernel.wide_k = true;
    kernel.resident = MOST_THREADS / block;
    kernel.threads = block;
    return kernel;
}
