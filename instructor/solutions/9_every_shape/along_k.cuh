/* Along k, for a C of few elements beside its k: the threads of a team lie along k, so that their
 * loads from A are side by side, and each computes the same few elements of C from its values of k.
 * The sums of a team are added up by shuffles, those of its warps in shared memory. Nothing is
 * staged: all that a thread needs is on its way at once.
 *
 * A team of 256 threads takes a k of thousands without a second block; one of eight, a k of a few
 * dozen. */
#pragma once
#include "model.cuh"
#include "sharing.cuh"

/* The sums of LANES neighboring lanes, V of each, added up: each lane is left with max(1, V /
 * LANES) of them, from the one on whose number is returned. */
template <int V, int LANES>
__device__ int reduce_lanes(float (&sum)[V])
{
    int first = 0, count = V;
#pragma unroll
    for (int half = LANES / 2; half > 0; half /= 2) {
        const bool upper = threadIdx.x & half;
        if (count == 1) {
            sum[0] += __shfl_xor_sync(0xffffffff, sum[0], half);
            continue;
        }
        count /= 2;
        first += upper ? count : 0;
#pragma unroll
        for (int i = 0; i < V / 2; ++i)
            if (i < count) {
                const float mine = upper ? sum[i + count] : sum[i];
                const float other = upper ? sum[i] : sum[i + count];
                sum[i] = mine + __shfl_xor_sync(0xffffffff, other, half);
            }
    }
    return first;
}

/* R x N elements of C from (row, col) on: sum[r * N + c] has what k = first, first + apart, ...
 * adds to them; AT_ONCE of those are asked for at once. */
template <int R, int N, int AT_ONCE, bool WIDE>
__device__ void dot(float (&sum)[R * N], const Problem &p, int row, int col, int first, int end,
                    int apart)
{
    constexpr int V = WIDE ? 4 : 1;
#pragma unroll 1
    for (int i0 = first; i0 < end; i0 += AT_ONCE * apart) {
        float a[AT_ONCE][R], b[AT_ONCE][N];
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            const int i = i0 + u * apart;
            const bool there = i < end;
#pragma unroll
            for (int r = 0; r < R; ++r) {
                const float *from = p.A + (size_t)min(row + r, p.m - 1) * p.k + i;
                a[u][r] = !there ? 0.0f : N < 4 ? __ldcs(from) : *from; /* N < 4: read once */
            }
#pragma unroll
            for (int c = 0; c < N; c += V)
                *(Piece<V> *)&b[u][c] =
                    there ? *(const Piece<V> *)(p.B + (size_t)i * p.n + min(col + c, p.n - V))
                          : Piece<V>{};
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u)
#pragma unroll
            for (int e = 0; e < R * N; ++e)
                sum[e] += a[u][e / N] * b[u][e % N];
    }
}

/* A team of L threads, a part of a warp, a warp, or several, does R rows, N columns; `chunk` values
 * of k. SPLITS: blocks may share k. Without what they need for that, a kernel has half the code,
 * which comes from memory, too: 4096 x 1025 x 1 is 6 % faster. */
template <int R, int N, int L, int AT_ONCE, bool WIDE, bool SPLITS>
__global__ void __launch_bounds__(THREADS) mysgemm_along_k(const Problem p, int chunk)
{
    constexpr int LANES = L < 32 ? L : 32, V = R * N, TEAMS = THREADS / L;
    constexpr int LEFT = V > LANES ? V / LANES : 1, SAME = V < LANES ? LANES / V : 1;
    __shared__ float sums[V * (THREADS / LANES)];
    const int row0 = blockIdx.x * (TEAMS * R), col0 = blockIdx.y * N, begin = blockIdx.z * chunk;
    const int team = threadIdx.x / L, lane = threadIdx.x % L;
    float sum[V] = {};

    dot<R, N, AT_ONCE, WIDE>(sum, p, row0 + team * R, col0, begin + lane, min(p.k, begin + chunk),
                             L);
    const int first = (lane / LANES * TEAMS + team) * V + reduce_lanes<V, LANES>(sum);
    if (lane % SAME == 0)
#pragma unroll
        for (int i = 0; i < LEFT; ++i)
            sums[first + i] = sum[i];
    finish<false>(p, sums, V * TEAMS, L / LANES, THREADS,
                  SPLITS ? part_of_grid() : Part{0, 1, 0, 1, 0}, {row0, col0, N, 0, 0, p.n});
}

template <int R, int N, int L, int U, bool WIDE, bool SPLITS>
static void launch_along_k(const Kernel &kernel, const Problem &p, const Plan &plan)
{
    const dim3 grid(plan.tiles_m, plan.tiles_n, plan.share);
    mysgemm_along_k<R, N, L, U, WIDE, SPLITS><<<grid, THREADS>>>(p, plan.chunks * kernel.depth);
}

/* Where it does not split, it is for a k that is all on its way at once. */
template <int R, int N, int L, int U, bool WIDE, bool SPLITS = true>
static Kernel along_k(const Cost &cost)
{
    const int most_n = N < 4 ? N : 65535 * N, most_k = SPLITS ? ANY : L * U;
    auto launch = launch_along_k<R, N, L, U, WIDE, SPLITS>;
    Kernel kernel = {THREADS / L * R, N, L * U, ANY, most_n, most_k, launch, cost, WIDE};
    kernel.splits = SPLITS;
    return kernel;
}
