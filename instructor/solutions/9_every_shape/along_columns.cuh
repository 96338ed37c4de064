/* Along columns, for a C of few rows: the threads lie along the rows of B, each of whose
 * elements is read once, a chunk of k ahead of its products. Groups of threads share k; A is in
 * shared memory, as much of it as there is room for, so that the loop over chunks has no
 * barrier. */
#pragma once
#include "model.cuh"
#include "sharing.cuh"

/* How a row of A lies in shared memory, transposed, and the room for A and for the sums. */
template <int M, int W>
struct Rows {
    static constexpr int A_ROW = M < 4 ? M : M + 4, SUMS = M * W * THREADS;
    static constexpr int FLOATS = SUMS < 3072 ? 3072 : SUMS;
};

/* The values k0 to k0 + count of A's rows from row0 on, transposed; zeros where there is none. */
template <int M, int A_ROW>
__device__ void stage(float *A_s, const Problem &p, int row0, int k0, int count, int end,
                      int threads)
{
    __syncthreads(); /* everyone has read what was there */
#pragma unroll 1
    for (int kk = threadIdx.x; kk < count; kk += threads)
#pragma unroll
        for (int r = 0; r < M; ++r)
            A_s[kk * A_ROW + r] = row0 + r < p.m && k0 + kk < end
                                      ? p.A[(size_t)(row0 + r) * p.k + k0 + kk] : 0.0f;
    __syncthreads();
}

/* The rows from row0 on, M of them at most, and the columns from col0 on, up to end_col: a thread
 * has W of those, a group `lanes` of the block's threads, and the groups share k. B is loaded a
 * chunk ahead. */
template <int M, int W, int AT_ONCE, bool WIDE>
__device__ void compute_rows(const Problem &p, int row0, int col0, int end_col, int begin, int end,
                             const Part &mine, float *A_s, int lanes, int threads)
{
    constexpr int V = M < 4 ? M : 4, A_ROW = Rows<M, W>::A_ROW;
    const int groups = threads / lanes, chunk = groups * AT_ONCE;
    const int x = threadIdx.x % lanes, group = threadIdx.x / lanes;
    const int room = max(3072 / (chunk * A_ROW), 1); /* chunks of A */
    float sum[M][W] = {}, b[2][AT_ONCE][W];

    auto load = [&](float (&to)[AT_ONCE][W], int k0) {
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            const int kk = k0 + u * groups + group;
            const float *from = p.B + (size_t)kk * p.n;
            if (WIDE)
                *(Piece<W> *)to[u] = kk < end && col0 + W * x < p.n
                                         ? load_once((const Piece<W> *)(from + col0 + W * x))
                                         : Piece<W>{};
            else
#pragma unroll
                for (int w = 0; w < W; ++w)
                    to[u][w] = kk < end && col0 + x + lanes * w < p.n
                                   ? __ldcs(from + col0 + x + lanes * w) : 0.0f;
        }
    };
    load(b[0], begin);
    int left = 0; /* chunks of A that are in shared memory and still to be done */
    const float *a_from = A_s;
#pragma unroll 1
    for (int k0 = begin; k0 < end; k0 += chunk, --left) {
        if (left == 0) {
            left = min(room, (end - k0 + chunk - 1) / chunk);
            stage<M, A_ROW>(A_s, p, row0, k0, left * chunk, end, threads);
            a_from = A_s + group * A_ROW;
        }
        load(b[1], k0 + chunk);
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u)
#pragma unroll
            for (int r = 0; r < M; r += V) {
                const Piece<V> a = *(const Piece<V> *)(a_from + u * groups * A_ROW + r);
#pragma unroll
                for (int e = 0; e < V * W; ++e)
                    sum[r + e / W][e % W] += a.of[e / W] * b[0][u][e % W];
            }
        a_from += chunk * A_ROW;
#pragma unroll
        for (int e = 0; e < AT_ONCE * W; ++e)
            b[0][e / W][e % W] = b[1][e / W][e % W];
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < M * W; ++e) {
        const int w = e % W, col = WIDE ? W * x + w : x + lanes * w;
        A_s[(group * M + e / W) * (lanes * W) + col] = sum[e / W][w];
    }
    finish<false>(p, A_s, M * lanes * W, groups, threads, mine,
                  {row0, col0, lanes * W, 0, 0, end_col});
}

template <int M, int LANES, int W, int AT_ONCE, bool WIDE>
__global__ void __launch_bounds__(THREADS) mysgemm_along_columns(const Problem p, int chunk)
{
    __shared__ float4 shared[Rows<M, W>::FLOATS / 4];
    const int begin = blockIdx.z * chunk;
    compute_rows<M, W, AT_ONCE, WIDE>(p, 0, blockIdx.x * (LANES * W), p.n, begin,
                                      min(p.k, begin + chunk), part_of_grid(), (float *)shared,
                                      LANES, THREADS);
}

template <int M, int LANES, int W, int U, bool WIDE>
static void launch_along_columns(const Kernel &kernel, const Problem &p, const Plan &plan)
{
    const dim3 grid(plan.tiles_n, 1, plan.share);
    mysgemm_along_columns<M, LANES, W, U, WIDE><<<grid, THREADS>>>(p, plan.chunks * kernel.depth);
}

template <int M, int LANES, int W, int U, bool WIDE>
static Kernel along_columns(const Cost &cost)
{
    auto launch = launch_along_columns<M, LANES, W, U, WIDE>;
    return {M, LANES * W, THREADS / LANES * U, M, ANY, ANY, launch, cost, WIDE};
}
