/* Warp tiles, asynchronous copies: nobody waits for global memory, and nothing passes through
 * registers on its way to shared memory.
 *
 * 6_double_buffered.cu fetches the next tiles into registers and stores them one step later. Here
 * cp.async (__pipeline_memcpy_async) copies straight from global to shared memory while the block
 * computes; STAGES - 1 steps are on their way at any time, which is longer than memory takes to
 * answer. Copies of 4 bytes can go anywhere: so A's tile is transposed on its way, whatever its
 * leading dimension. What k leaves over comes first, filled up with zeros, so that only the first
 * step has guards; what is behind the last row of A or column of B is copied from the last one,
 * and the sums it is in are not stored.
 *
 * The registers that this frees hold more sums: a thread computes 16 x 8 of them, a warp 64 x 64,
 * and a block of eight warps 128 x 256. For each k a thread loads 16 + 8 values from shared
 * memory, in six pieces of 16 bytes, for 128 products. The lanes of a warp are 4 x 8, so that the
 * pieces of one load lie side by side, or are the same. The next k's values are loaded while this
 * one's are multiplied. One barrier a step: behind it the next step's tiles are there for all, and
 * the last step's are free. Two things that look like nothing and are worth five percent each:
 * copies are started a few at a time, because all at once they are in the way of the loads; and
 * the products of a row go there and those of the next one back, so that a register that has just
 * been read is at hand for the next product.
 *
 * 128 * 256 / (2 * (128 + 256)) = 43 operations for each byte of global memory. What limits it:
 * the issue of instructions, of which one in eleven is no FFMA; and such large tiles leave most of
 * the GPU idle where C is small, and much of it where their number does not come out even.
 *
 * It takes 97 KB of shared memory: compute capability 8.0 or newer, which is also where copies are
 * asynchronous.
 *
 * intensity: 42.67 FLOP/byte
 * loses:    nothing */

#include <cuda_pipeline.h>
#include <stdint.h>

#define BM 128
#define BN 256
#define BK 16
#define STAGES 4
#define WARP_TILE 64
#define TM 16
#define TN 8
#define THREADS (BM / WARP_TILE * (BN / WARP_TILE) * 32)
#define LANES_N (WARP_TILE / TN)
#define LANES_M (WARP_TILE / TM)
#define A_ROW (BM + 4) /* so that 8 columns of A go to 32 different banks */
#define A_PASSES (BM / (THREADS / 8))
#define A_COPIES (A_PASSES * (BK / 8))
#define B_COPIES(piece) (BN * BK / (piece) / THREADS)
#define STAGE_FLOATS (BK * (A_ROW + BN))

/* Start copies number FROM to TO of a thread's for one step. a_rows and b_row: its rows of A and
 * its first row of B, at the step's first k, of which `here` of BK are there; the others are zeros.
 * WIDE: B's rows can be read 16 bytes at a time. */
template <bool WIDE>
__device__ void copy(float *stage, int from, int to, int n, const float *const a_rows[A_PASSES],
                     const float *B, const float *b_row, int col0, int here)
{
    float *A_s = stage, *B_s = stage + BK * A_ROW; /* A_s[BK][A_ROW], B_s[BK][BN] */
    constexpr int PIECE = WIDE ? 4 : 1, WARPS = THREADS / 32, PIECES_OF_LANE = BN / PIECE / 32;

#pragma unroll
    for (int i = from; i < to; ++i) {
        if (i < A_COPIES) { /* a warp: 8 columns of 4 rows */
            int pass = i / (BK / 8), row = threadIdx.x / 8 + pass * (THREADS / 8);
            int col = threadIdx.x % 8 + i % (BK / 8) * 8;
            bool there = here == BK || col < here;
            const float *a = a_rows[pass] + i % (BK / 8) * 8;
            __pipeline_memcpy_async(A_s + col * A_ROW + row, there ? a : B, 4, there ? 0 : 4);
        } else if (i < A_COPIES + B_COPIES(PIECE)) { /* a warp: 32 pieces of a row */
            int down = (i - A_COPIES) / PIECES_OF_LANE * WARPS, row = threadIdx.x / 32 + down;
            int col = (threadIdx.x % 32 + (i - A_COPIES) % PIECES_OF_LANE * 32) * PIECE;
            bool there = here == BK || row < here;
            const float *b = b_row + (long long)down * n + min(col0 + col, n - PIECE);
            __pipeline_memcpy_async(B_s + row * BN + col, there ? b : B, 4 * PIECE,
                                    there ? 0 : 4 * PIECE);
        }
    }
}

/* What a thread needs of one k: 16 values of A, 8 of B. */
__device__ void load_fragments(float a[TM], float b[TN], const float *stage, int kk, int a_at,
                               int b_at)
{
    const float *A_s = stage + kk * A_ROW + a_at, *B_s = stage + BK * A_ROW + kk * BN + b_at;
#pragma unroll
    for (int i = 0; i < TM; i += 4)
        *(float4 *)(a + i) = *(const float4 *)(A_s + i * LANES_M);
#pragma unroll
    for (int j = 0; j < TN; j += 4)
        *(float4 *)(b + j) = *(const float4 *)(B_s + j * LANES_N);
}

template <bool WIDE>
__global__ void __launch_bounds__(THREADS)
mysgemm(int m, int n, int k, float alpha, const float *__restrict__ A, const float *__restrict__ B,
        float beta, float *__restrict__ C)
{
    extern __shared__ float4 shared[];
    float *stages = (float *)shared;
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int a_at = warp / (BN / WARP_TILE) * WARP_TILE + lane / LANES_N * 4;
    const int b_at = warp % (BN / WARP_TILE) * WARP_TILE + lane % LANES_N * 4;
    const int steps = (k + BK - 1) / BK, ragged = k - (steps - 1) * BK; /* of k in the first step */
    constexpr int COPIES = A_COPIES + B_COPIES(WIDE ? 4 : 1), LOT = (COPIES + 3) / 4;

    const float *a_rows[A_PASSES]; /* where this thread's copies of A come from */
#pragma unroll
    for (int i = 0; i < A_PASSES; ++i)
        a_rows[i] = A + (size_t)min(row0 + (int)threadIdx.x / 8 + i * (THREADS / 8), m - 1) * k
                    + threadIdx.x % 8;

    const float *b_row = B + (size_t)(threadIdx.x / 32) * n;
    auto advance = [&](int by) {
#pragma unroll
        for (int i = 0; i < A_PASSES; ++i)
            a_rows[i] += by;
        b_row += (long long)by * n;
    };
    copy<WIDE>(stages, 0, COPIES, n, a_rows, B, b_row, col0, ragged);
    advance(ragged);
    __pipeline_commit();
    for (int step = 1; step < STAGES - 1; ++step) {
        if (step < steps) {
            copy<WIDE>(stages + step * STAGE_FLOATS, 0, COPIES, n, a_rows, B, b_row, col0, BK);
            advance(BK);
        }
        __pipeline_commit(); /* a group for each step, if need be an empty one */
    }
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads(); /* the first step's tiles are there */

    float sum[TM][TN], a[2][TM], b[2][TN];
#pragma unroll
    for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j)
            sum[i][j] = 0.0f;
    load_fragments(a[0], b[0], stages, 0, a_at, b_at);

    for (int step = 0; step < steps; ++step) {
        const float *stage = stages + step % STAGES * STAGE_FLOATS;
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
            if (kk == BK - 1) {
                __pipeline_wait_prior(STAGES - 2);
                __syncthreads(); /* the next step's tiles are there, this step's are read */
                if (step + 1 < steps)
                    stage = stages + (step + 1) % STAGES * STAGE_FLOATS;
            }
            load_fragments(a[(kk + 1) % 2], b[(kk + 1) % 2], stage, (kk + 1) % BK, a_at, b_at);
            const int coming = step + STAGES - 1; /* into the tiles of the step before this one */
            if (kk % 3 == 0 && kk < 12 && coming < steps)
                copy<WIDE>(stages + coming % STAGES * STAGE_FLOATS, kk / 3 * LOT,
                           kk / 3 * LOT + LOT, n, a_rows, B, b_row, col0, BK);
            if (kk == BK - 2) {
                __pipeline_commit();
                advance(BK);
            }
#pragma unroll
            for (int i = 0; i < TM; ++i)
#pragma unroll
                for (int jj = 0; jj < TN; ++jj) {
                    const int j = i % 2 ? TN - 1 - jj : jj; /* and back: b[j] is at hand */
                    sum[i][j] += a[kk % 2][i] * b[kk % 2][j];
                }
        }
    }

#pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int row = row0 + a_at + i / 4 * (4 * LANES_M) + i % 4;
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            const int col = col0 + b_at + j * LANES_N;
            float *to = C + (size_t)row * n + col;
            if (row >= m || col >= n)
                continue;
            float v[4];
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                v[e] = alpha * sum[i][j + e];
                if (beta != 0.0f && col + e < n)
                    v[e] += beta * to[e];
            }
            if (WIDE)
                *(float4 *)to = make_float4(v[0], v[1], v[2], v[3]);
            else
#pragma unroll
                for (int e = 0; e < 4; ++e)
                    if (col + e < n)
                        to[e] = v[e];
        }
    }
}

void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    const int bytes = STAGES * STAGE_FLOATS * sizeof(float);
    const bool wide = n % 4 == 0 && ((uintptr_t)B | (uintptr_t)C) % 16 == 0;
    auto kernel = wide ? mysgemm<true> : mysgemm<false>;
    dim3 grid((n + BN - 1) / BN, (m + BM - 1) / BM);

    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<grid, THREADS, bytes>>>(m, n, k, alpha, A, B, beta, C);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
