/* Along columns, for a C of few rows: the threads lie along the rows of B, each of whose
 * elements is read once, a chunk of k ahead of its products. Groups of threads share k; A is in
 * shared memory, as much of it as there is room for, so that the loop over chunks has no
 * barrier. */
#pragma once
#include "model.cuh"
#include "sharing.cuh"

/* What it has of A in shared memory at a time, and how many floats that and its sums take. */
template <int M, int GROUPS, int W, int AT_ONCE, int threads = THREADS>
struct Rows {
    static constexpr int CHUNK = GROUPS * AT_ONCE, A_ROW = M < 4 ? M : M + 4;
    static constexpr int CHUNKS = CHUNK * A_ROW < 3072 ? 3072 / (CHUNK * A_ROW) : 1;
    static constexpr int STAGED = CHUNKS * CHUNK * A_ROW, SUMS = M * threads * W;
    static constexpr int FLOATS = STAGED > SUMS ? STAGED : SUMS;
};

/* The values k0 to k0 + count of A's rows from row0 on, transposed; zeros where there is none. */
template <int M, int A_ROW, int threads>
__device__ void stage(float *A_s, const Problem &p, int row0, int k0, int count, int end)
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
 * has W of those, GROUPS of threads share k. B is loaded a chunk ahead. */
template <int M, int GROUPS, int W, int AT_ONCE, bool WIDE, int threads = THREADS>
__device__ void compute_rows(const Problem &p, int row0, int col0, int end_col, int begin, int end,
                             int share, float *A_s)
{
    typedef Rows<M, GROUPS, W, AT_ONCE, threads> R;
    constexpr int LANES = threads / GROUPS, COLS = LANES * W, CHUNK = R::CHUNK;
    constexpr int V = M < 4 ? M : 4, A_ROW = R::A_ROW;
    const int x = threadIdx.x % LANES, group = threadIdx.x / LANES;
    float sum[M][W] = {}, b[2][AT_ONCE][W];

    auto load = [&](float (&to)[AT_ONCE][W], int k0) {
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            const int kk = k0 + u * GROUPS + group;
            const float *from = p.B + (size_t)kk * p.n;
            if (WIDE && W > 1)
                *(Piece<W> *)to[u] = kk < end && col0 + W * x < p.n
                                         ? load_once((const Piece<W> *)(from + col0 + W * x))
                                         : Piece<W>{};
            else
#pragma unroll
                for (int w = 0; w < W; ++w)
                    to[u][w] = kk < end && col0 + x + LANES * w < p.n
                                   ? __ldcs(from + col0 + x + LANES * w) : 0.0f;
        }
    };
    load(b[0], begin);
    int left = 0; /* chunks of A that are in shared memory and still to be done */
    const float *a_from = A_s;
#pragma unroll 1
    for (int k0 = begin; k0 < end; k0 += CHUNK, --left) {
        if (left == 0) {
            left = min(R::CHUNKS, (end - k0 + CHUNK - 1) / CHUNK);
            stage<M, A_ROW, threads>(A_s, p, row0, k0, left * CHUNK, end);
            a_from = A_s + group * A_ROW;
        }
        load(b[1], k0 + CHUNK);
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u)
#pragma unroll
            for (int r = 0; r < M; r += V) {
                const Piece<V> a = *(const Piece<V> *)(a_from + u * GROUPS * A_ROW + r);
#pragma unroll
                for (int e = 0; e < V * W; ++e)
                    sum[r + e / W][e % W] += a.of[e / W] * b[0][u][e % W];
            }
        a_from += CHUNK * A_ROW;
#pragma unroll
        for (int e = 0; e < AT_ONCE * W; ++e)
            b[0][e / W][e % W] = b[1][e / W][e % W];
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < M * W; ++e) {
        const int w = e % W, col = WIDE ? W * x + w : x + LANES * w;
        A_s[(group * M + e / W) * COLS + col] = sum[e / W][w];
    }
    finish<M * COLS, GROUPS, threads>(p, A_s, share, [&](int e) {
        const int col = col0 + e % COLS;
        return make_int2(row0 + e / COLS, col < end_col ? col : p.n);
    });
}

template <int M, int GROUPS, int W, int AT_ONCE, bool WIDE>
__global__ void __launch_bounds__(THREADS) mysgemm_along_columns(const Problem p, int chunks)
{
    constexpr int CHUNK = GROUPS * AT_ONCE;
    __shared__ float4 shared[Rows<M, GROUPS, W, AT_ONCE>::FLOATS / 4];
    const int begin = blockIdx.z * chunks * CHUNK;
    compute_rows<M, GROUPS, W, AT_ONCE, WIDE>(p, 0, blockIdx.x * (THREADS / GROUPS * W), p.n, begin,
                                              min(p.k, begin + chunks * CHUNK), gridDim.z,
                                              (float *)shared);
}

template <int M, int GROUPS, int W, int U>
static void launch_along_columns(const Problem &p, const Plan &plan, int)
{
    const dim3 grid(plan.tiles_n, 1, plan.share);
    if (W > 1 && is_wide(p))
        mysgemm_along_columns<M, GROUPS, W, U, true><<<grid, THREADS>>>(p, plan.chunks);
    else
        mysgemm_along_columns<M, GROUPS, W, U, false><<<grid, THREADS>>>(p, plan.chunks);
}

template <int M, int GROUPS, int W, int U>
static Kernel along_columns(const Cost &cost)
{
    auto launch = launch_along_columns<M, GROUPS, W, U>;
    return {M, THREADS / GROUPS * W, GROUPS * U, M, ANY, ANY, launch, cost};
}
