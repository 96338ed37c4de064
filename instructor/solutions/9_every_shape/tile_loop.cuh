/* The loop over k of 8_even_shares.cu, for any shape of tiles. It has no guards. What k leaves
 * over comes first, filled up with zeros. A tile that sticks out over the edge of C loads the
 * last row again and again, and other columns instead of those beyond the last (CLAMPS), or is
 * moved back until it fits. Copies are spread out over a step, so that they do not hold up the
 * loads from shared memory. */
#pragma once
#include "tile_shape.cuh"

/* Loading: a slice's copies from global memory into a stage of its shared memory. Each thread
 * copies 8 columns of A side by side, or a piece of a row of B. What k leaves over comes first,
 * filled up with zeros.
 * WIDE: B and C can be read and written 16 bytes at a time. */
template <class S, bool WIDE>
struct Loader {
    static constexpr int A_ROWS = S::SLICE_THREADS / 8;
    static constexpr int A_PASSES = (S::BM + A_ROWS - 1) / A_ROWS;
    static constexpr int A_COPIES = A_PASSES * (S::BK / 8);
    static constexpr int PIECE = WIDE ? 4 : 1, PIECES = S::BN / PIECE;
    static constexpr int B_WIDTH = PIECES == S::SLICE_THREADS ? PIECES
                                   : PIECES % 32 == 0         ? 32
                                   : PIECES % 16 == 0         ? 16
                                   : PIECES % 8 == 0          ? 8
                                   : PIECES % 4 == 0          ? 4
                                                              : 2;
    static constexpr int B_COLS = PIECES / B_WIDTH, B_ROWS = S::SLICE_THREADS / B_WIDTH;
    static constexpr int B_PASSES = (S::BK + B_ROWS - 1) / B_ROWS;
    static constexpr int COPIES = A_COPIES + B_PASSES * B_COLS;
    static constexpr int LOTS = S::BK == 8 ? 4 : 5, APART = S::BK == 8 ? 1 : WIDE ? 3 : 2;
    static constexpr int LOT = (COPIES + LOTS - 1) / LOTS;
    static_assert(PIECES % B_WIDTH == 0, "whole rows of copies");

    const float *A, *B; /* for the addresses of copies that copy nothing */
    int n, k;
    int a_row, a_col, b_row, b_col, a_to, b_to; /* _to: where in a stage its first copies go */
    int a_at[S::CLAMPS ? A_PASSES : 1]; /* where the rows of A and the columns of B are, */
    int b_at[S::CLAMPS ? B_COLS : 1];   /* none of them beyond the last one */
    const float *a_from, *b_from; /* this thread's first copies of the step to load next */

    __device__ Loader(const Problem &p, int tid)
        : A(p.A), B(p.B), n(p.n), k(p.k), a_row(tid / 8), a_col(tid % 8), b_row(tid / B_WIDTH),
          b_col(tid % B_WIDTH * PIECE), a_to(a_col * S::A_ROW + a_row),
          b_to(S::BK * S::A_ROW + b_row * S::BN + b_col)
    {
    }

    /* A column, or another one in place of one beyond the last. Neighbors get different ones:
     * copies of the same four bytes to many places would be made one after the other. */
    static __device__ int inside(int col, int n)
    {
        return col < n ? col : col & ((1 << (31 - __clz(n))) - 1);
    }

    __device__ void go_to(const Problem &p, const Task &task, int slice)
    {
#pragma unroll
        for (int i = 0; S::CLAMPS && i < A_PASSES; ++i)
            a_at[i] = min(a_row + i * A_ROWS, p.m - 1 - task.row) * k;
#pragma unroll
        for (int i = 0; S::CLAMPS && i < B_COLS; ++i)
            b_at[i] = inside(task.col + b_col + i * B_WIDTH * PIECE, p.n) - task.col;
        a_from = A + (size_t)(task.row + (S::CLAMPS ? 0 : a_row)) * k + a_col + slice * S::BK;
        b_from = B + (size_t)(b_row + slice * S::BK) * n + task.col + (S::CLAMPS ? 0 : b_col);
    }

    __device__ void advance(int by)
    {
        a_from += by;
        b_from += (long long)by * n;
    }

    __device__ void copy_a(float *stage, int i, int left) const
    {
        const int row = i / (S::BK / 8) * A_ROWS, col = i % (S::BK / 8) * 8;
        if (S::BM % A_ROWS != 0 && a_row + row >= S::BM)
            return;
        const bool there = left == S::BK || col + a_col < left;
        const float *from = a_from + (S::CLAMPS ? a_at[row / A_ROWS] : (long long)row * k) + col;
        __pipeline_memcpy_async(stage + a_to + col * S::A_ROW + row, there ? from : A, 4,
                                there ? 0 : 4);
    }

    __device__ void copy_b(float *stage, int i, int left) const
    {
        const int row = i / B_COLS * B_ROWS, col = i % B_COLS * B_WIDTH * PIECE;
        if (S::BK % B_ROWS != 0 && row + b_row >= S::BK)
            return;
        const bool there = left == S::BK || row + b_row < left;
        const float *from = b_from + (long long)row * n + (S::CLAMPS ? b_at[i % B_COLS] : col);
        __pipeline_memcpy_async(stage + b_to + row * S::BN + col, there ? from : B, 4 * PIECE,
                                there ? 0 : 4 * PIECE);
    }

    /* Copies FROM to TO of a step, of which only the first `left` values of k are there. */
    __device__ void copy(float *stage, int from, int to, int left) const
    {
#pragma unroll
        for (int i = from; i < to && i < COPIES; ++i)
            if (i < A_COPIES)
                copy_a(stage, i, left);
            else
                copy_b(stage, i - A_COPIES, left);
    }

    /* The lot, if any, that is due while the products of kk are computed. */
    __device__ void copy_lot(float *stage, int kk) const
    {
        if (kk % APART == 0 && kk / APART < LOTS)
            copy(stage, kk / APART * LOT, (kk / APART + 1) * LOT, S::BK);
    }

    /* Fills all stages but one: the task's first steps. `ragged` values of k are in step 0. One
     * piece of code for all of them, where a kernel is short: its code, too, has to come from
     * memory when it begins. */
    __device__ void fill(float *stages, int begin, int end, int ragged, int slice)
    {
        if (begin > 0)
            advance(ragged + (begin - 1) * S::STEP);
#pragma unroll(S::STREAMS ? S::STAGES - 1 : 1)
        for (int i = 0; i < S::STAGES - 1; ++i) {
            if (begin + i == 0) {
                copy(stages, 0, COPIES, ragged - slice * S::BK);
                advance(ragged);
            } else if (begin + i < end) {
                copy(stages + i * S::STAGE, 0, COPIES, S::BK);
                advance(S::STEP);
            }
            __pipeline_commit();
        }
    }
};

/* A thread's values of A and B for one k, from shared memory into registers. */
template <class S>
__device__ void load_fragments(float (&a)[S::TM], float (&b)[S::TN], const float *stage, int kk,
                               const Place<S> &me)
{
#pragma unroll
    for (int i = 0; i < S::TM; i += 4)
        *(float4 *)&a[i] = *(const float4 *)(stage + kk * S::A_ROW + me.row + i * S::LANES_M);
#pragma unroll
    for (int j = 0; j < S::TN; j += 4)
        *(float4 *)&b[j] =
            *(const float4 *)(stage + S::BK * S::A_ROW + kk * S::BN + me.col + j * S::LANES_N);
}

template <class S>
__device__ void wait_for_next_stage()
{
    __pipeline_wait_prior(S::STAGES - 2);
    if (S::SLICE_THREADS == 32)
        __syncwarp(); /* each warp has its own slice */
    else
        __syncthreads();
}

/* Computing: the products of so many steps, the first of which are on their way to shared memory.
 * The fragments of the next k are loaded before the products of this one. */
template <class S, bool WIDE>
__device__ void compute(float (&sum)[S::TM][S::TN], Loader<S, WIDE> &loader, float *stages,
                        int steps, const Place<S> &me)
{
    float a[2][S::TM], b[2][S::TN];
    int reading = 0, writing = (S::STAGES - 1) * S::STAGE;

    wait_for_next_stage<S>();
    load_fragments<S>(a[0], b[0], stages, 0, me);
    for (int left = steps; left > 0; --left) {
        const bool more = left >= S::STAGES;
#pragma unroll
        for (int kk = 0; kk < S::BK; ++kk) {
            if (kk == S::BK - 1) {
                wait_for_next_stage<S>();
                writing = reading;
                if (left > 1)
                    reading =
                        reading == (S::STAGES - 1) * S::STAGE ? 0 : reading + S::STAGE;
            }
            load_fragments<S>(a[(kk + 1) % 2], b[(kk + 1) % 2], stages + reading,
                              (kk + 1) % S::BK, me);
            if (more)
                loader.copy_lot(stages + writing, kk);
            if (kk == S::BK - 2) {
                __pipeline_commit();
                loader.advance(S::STEP);
            }
#pragma unroll
            for (int i = 0; i < S::TM; ++i)
#pragma unroll
                for (int jj = 0; jj < S::TN; ++jj) {
                    const int j = i % 2 ? S::TN - 1 - jj : jj; /* and back: b[j] is at hand */
                    sum[i][j] += a[kk % 2][i] * b[kk % 2][j];
                }
        }
    }
    __pipeline_wait_prior(0);
}
