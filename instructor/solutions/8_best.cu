/* The best: several tile shapes, chosen by the problem; work shared out evenly over the GPU.
 *
 * The kernel of 7_warp_tiles.cu, with everything that was in its way taken out of the inner loop:
 *
 * - No guards. A tile that would stick out over the edge of C is moved back until it fits, and
 *   stores only what no other tile does. What k leaves over comes first, filled up with zeros.
 * - Few instructions beside the 128 FFMA a thread does for each k: 6 loads from shared memory, and
 *   a handful of copies that are spread out, so that they do not hold up those loads.
 * - No sums in vectors. A float4 made of sums has to lie in registers of the same banks as the
 *   float4 of B that it is multiplied with; then four FFMA in ten wait for a register. So sums go
 *   through a multiplication by alpha, or one by one.
 *
 * Where C has too few tiles to fill the GPU, its warps share k: the SLICES of a block each take
 * their part of every step, and add up in shared memory. And where the number of tiles does not
 * come out even, blocks share tiles (stream-k): each block does the same number of steps, and
 * whoever is the last to finish its part of a tile adds up all parts. Up to four columns that are
 * left over are done by blocks of their own, so that they do not cost a whole column of tiles.
 *
 * It reaches 128 * 256 / (2 * (128 + 256)) = 43 operations for each byte of global memory. What
 * limits it is the issue of instructions: of ten, nine are FFMA. docs/ladder.md has the figures.
 *
 * intensity: 42.67 FLOP/byte
 * loses:    nothing */

#include <cuda_pipeline.h>
#include <stdint.h>

/* Sums of parts of tiles, two tiles a block at most; and how many parts of a tile have come. All
 * launches use the same: two that overlap, on streams of their own, would spoil each other's. */
#define PARTS_FLOATS (160 * 2 * 128 * 256)
#define MOST_SHARING 4096
__device__ float parts[PARTS_FLOATS];
__device__ unsigned parts_done[MOST_SHARING];

#define RIM 4      /* most columns that are left to the rim's blocks */
#define RIM_ROWS 8 /* rows that one warp of them does at a time */
#define GROUP 8    /* rows of tiles that are done together, for the sake of the L2 cache */

/* A block computes BM x BN elements of C, BK values of k at a time in each of its SLICES; a warp
 * WM x WN, a thread TM x TN of them. STAGES steps are in shared memory or on their way there. */
template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_, int TN_, int SLICES_, int STAGES_,
          bool SHARES_>
struct Shape {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, TM = TM_, TN = TN_;
    static constexpr int SLICES = SLICES_, STAGES = STAGES_;
    static constexpr bool SHARES = SHARES_; /* tiles, with other blocks */
    static constexpr int SLICE_THREADS = (BM / WM) * (BN / WN) * 32;
    static constexpr int THREADS = SLICE_THREADS * SLICES;
    static constexpr int STEP = BK * SLICES; /* values of k in a step */
    static constexpr int LANES_M = WM / TM, LANES_N = WN / TN;
    static constexpr int A_ROW = BM + 4; /* of A's transposed tile: 8 columns hit 32 banks */
    static constexpr int STAGE_FLOATS = BK * (A_ROW + BN);
    static constexpr int SHARED_BYTES = STAGE_FLOATS * STAGES * SLICES * (int)sizeof(float);
    static_assert(LANES_M * LANES_N == 32 && TM % 4 == 0 && TN % 4 == 0, "a warp's tile");
    static_assert(BK % 8 == 0 && BM % 4 == 0 && BN % 4 == 0, "pieces of 16 bytes, 8 columns of A");
    static_assert(BM * BN * (SLICES / 2) <= STAGE_FLOATS * STAGES * SLICES, "room for sums");
};

/* What a block does next. In shared memory, because the loop needs all registers. */
struct Task {
    int first;                 /* of all steps of the grid; -1: there is no other task */
    int begin, end;            /* steps of the tile */
    int row, col;              /* where the tile is */
    int own_row, own_col;      /* the first ones that are no other tile's, too */
    int first_worker, workers; /* that share the tile */
};

/* The grid's steps, shared out over its workers: the first `longer` do one step more. */
struct Shares {
    int workers, steps, longer;
};

__device__ int first_step(const Shares &shares, int worker)
{
    return worker * shares.steps + min(worker, shares.longer);
}

__device__ int worker_of(const Shares &shares, int step)
{
    int of_longer = shares.longer * (shares.steps + 1);
    return step < of_longer ? step / (shares.steps + 1)
                            : shares.longer + (step - of_longer) / shares.steps;
}

/* The task that begins with step task->first. */
template <class S>
__device__ void find_task(Task *task, int m, int n, int tiles_m, int tiles_n, int steps_of_tile,
                          const Shares &shares)
{
    int tile = blockIdx.x;
    if (S::SHARES) {
        int first = task->first, last = first_step(shares, blockIdx.x + 1);
        tile = first / steps_of_tile;
        task->begin = first - tile * steps_of_tile;
        task->end = min(steps_of_tile, task->begin + last - first);
        task->first = first + task->end - task->begin;
        if (task->first == last)
            task->first = -1;
        task->first_worker = worker_of(shares, tile * steps_of_tile);
        task->workers =
            worker_of(shares, (tile + 1) * steps_of_tile - 1) - task->first_worker + 1;
    } else {
        task->begin = 0;
        task->end = steps_of_tile;
    }
    int of_group = GROUP * tiles_n, group = tile / of_group, in_group = tile - group * of_group;
    int rows = min(GROUP, tiles_m - group * GROUP), tile_n = in_group / rows;
    task->own_row = (group * GROUP + in_group - tile_n * rows) * S::BM;
    task->own_col = tile_n * S::BN;
    task->row = min(task->own_row, m - S::BM);
    task->col = min(task->own_col, n - S::BN);
}

/* The last columns of C, RIM of them at most: a warp does RIM_ROWS rows, its lanes share k. */
template <class S>
__device__ void compute_rim(int m, int n, int k, float alpha, const float *A, const float *B,
                            float beta, float *C, int first_col, int block)
{
    int lane = threadIdx.x % 32, cols = n - first_col;
    int first_row = (block * (S::THREADS / 32) + threadIdx.x / 32) * RIM_ROWS;
    float sum[RIM_ROWS][RIM] = {};

#pragma unroll 2
    for (int i = lane; i < k; i += 32) {
        float b[RIM];
#pragma unroll
        for (int c = 0; c < RIM; ++c)
            b[c] = B[(size_t)i * n + first_col + min(c, cols - 1)];
#pragma unroll
        for (int r = 0; r < RIM_ROWS; ++r) {
            float a = A[(size_t)min(first_row + r, m - 1) * k + i];
#pragma unroll
            for (int c = 0; c < RIM; ++c)
                sum[r][c] += a * b[c];
        }
    }
#pragma unroll
    for (int r = 0; r < RIM_ROWS; ++r)
#pragma unroll
        for (int c = 0; c < RIM; ++c) {
#pragma unroll 1
            for (int other = 16; other > 0; other /= 2)
                sum[r][c] += __shfl_xor_sync(0xffffffff, sum[r][c], other);
            if (lane == r * RIM + c && first_row + r < m && c < cols) {
                float *to = C + (size_t)(first_row + r) * n + first_col + c;
                *to = beta == 0.0f ? alpha * sum[r][c] : alpha * sum[r][c] + beta * *to;
            }
        }
}

/* Which part of its block's work is a thread's: its slice, its place in it, and where in its
 * tiles of A and B it finds its first row and column of C. */
template <class S>
struct Place {
    int slice, tid, row, col;

    __device__ Place()
    {
        slice = S::SLICES == 1 ? 0 : threadIdx.x / S::SLICE_THREADS;
        tid = S::SLICES == 1 ? threadIdx.x : threadIdx.x % S::SLICE_THREADS;
        const int warp = tid / 32, lane = tid % 32;
        row = warp / (S::BN / S::WN) * S::WM + lane / S::LANES_N * 4;
        col = warp % (S::BN / S::WN) * S::WN + lane % S::LANES_N * 4;
    }
};

/* Loading: a slice's copies from global memory into a stage of its shared memory. Each thread
 * copies 8 columns of A side by side, or a piece of a row of B.
 * WIDE: B and C can be read and written 16 bytes at a time. */
template <class S, bool WIDE>
struct Loader {
    static constexpr int A_ROWS = S::SLICE_THREADS / 8;
    static constexpr int A_PASSES = (S::BM + A_ROWS - 1) / A_ROWS;
    static constexpr int A_COPIES = A_PASSES * (S::BK / 8);
    static constexpr int PIECE = WIDE ? 4 : 1, PIECES = S::BN / PIECE;
    static constexpr int B_WIDTH = PIECES < 32 || PIECES == S::SLICE_THREADS ? PIECES : 32;
    static constexpr int B_COLS = PIECES / B_WIDTH, B_ROWS = S::SLICE_THREADS / B_WIDTH;
    static constexpr int COPIES = A_COPIES + S::BK / B_ROWS * B_COLS;
    static_assert(S::SLICE_THREADS % B_WIDTH == 0 && PIECES % B_WIDTH == 0, "whole rows of copies");
    static_assert(S::BK % B_ROWS == 0, "copies of B come out even");

    /* When in a step the copies are issued: in so many lots, so many k apart. */
    static constexpr int LOTS = 4, APART = S::BK == 8 ? 1 : 3;
    static constexpr int LOT = (COPIES + LOTS - 1) / LOTS;
    static_assert((LOTS - 1) * APART < S::BK - 1, "the last lot goes before the last k");

    const float *A, *B; /* for the addresses of copies that copy nothing */
    int n, k;
    int a_row, a_col, b_row, b_col, a_to, b_to; /* _to: where in a stage its first copies go */
    const float *a_from, *b_from; /* this thread's first copies of the step to load next */

    __device__ Loader(const float *A, const float *B, int n, int k, int tid)
        : A(A), B(B), n(n), k(k), a_row(tid / 8), a_col(tid % 8), b_row(tid / B_WIDTH),
          b_col(tid % B_WIDTH * PIECE), a_to(a_col * S::A_ROW + a_row),
          b_to(S::BK * S::A_ROW + b_row * S::BN + b_col)
    {
    }

    /* Moves to element (row, col) of C, and to this slice's part of a step. */
    __device__ void go_to(int row, int col, int slice)
    {
        a_from = A + (size_t)(row + a_row) * k + a_col + slice * S::BK;
        b_from = B + (size_t)(b_row + slice * S::BK) * n + col + b_col;
    }

    __device__ void advance(int by)
    {
        a_from += by;
        b_from += (long long)by * n;
    }

    __device__ void copy_a(float *stage, int i, int left) const
    {
        const int pass = i / (S::BK / 8), col = i % (S::BK / 8) * 8;
        if (S::BM % A_ROWS != 0 && a_row + pass * A_ROWS >= S::BM)
            return;
        const bool there = left == S::BK || col + a_col < left;
        __pipeline_memcpy_async(
            stage + a_to + col * S::A_ROW + pass * A_ROWS,
            there ? a_from + (long long)(pass * A_ROWS) * k + col : A, 4, there ? 0 : 4);
    }

    __device__ void copy_b(float *stage, int i, int left) const
    {
        const int row = i / B_COLS * B_ROWS, col = i % B_COLS * B_WIDTH * PIECE;
        const bool there = left == S::BK || row + b_row < left;
        __pipeline_memcpy_async(
            stage + b_to + row * S::BN + col,
            there ? b_from + (long long)row * n + col : B, 4 * PIECE, there ? 0 : 4 * PIECE);
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

    /* Fills all stages but one: the task's first steps. `ragged` values of k are in step 0. */
    __device__ void fill(float *stages, int begin, int end, int ragged, int slice)
    {
        if (begin > 0)
            advance(ragged + (begin - 1) * S::STEP);
#pragma unroll
        for (int i = 0; i < S::STAGES - 1; ++i) {
            if (begin + i == 0) {
                copy(stages, 0, COPIES, ragged - slice * S::BK);
                advance(ragged);
            } else if (begin + i < end) {
                copy(stages + i * S::STAGE_FLOATS, 0, COPIES, S::BK);
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
    int reading = 0, writing = (S::STAGES - 1) * S::STAGE_FLOATS;

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
                    reading = reading == (S::STAGES - 1) * S::STAGE_FLOATS
                                  ? 0 : reading + S::STAGE_FLOATS;
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

/* Reducing: the slices' sums, the upper half of them to the lower half, until one is left. */
template <class S>
__device__ void reduce_slices(float (&sum)[S::TM][S::TN], float *there, const Place<S> &me)
{
#pragma unroll 1
    for (int half = S::SLICES / 2; half > 0; half /= 2) {
        __syncthreads();
        if (me.slice >= half && me.slice < 2 * half)
#pragma unroll
            for (int i = 0; i < S::TM * S::TN; ++i)
                there[((me.slice - half) * S::TM * S::TN + i) * S::SLICE_THREADS] =
                    sum[i / S::TN][i % S::TN];
        __syncthreads();
        if (me.slice < half)
#pragma unroll
            for (int i = 0; i < S::TM * S::TN; ++i)
                sum[i / S::TN][i % S::TN] +=
                    there[(me.slice * S::TM * S::TN + i) * S::SLICE_THREADS];
    }
}

/* Where a worker's sums of a shared tile lie: of the tile that it begins, and of the other one. */
template <class S>
__device__ float *place_of_parts(int worker, int first_worker, int tid)
{
    return parts + (size_t)(2 * worker + (worker == first_worker)) * (S::BM * S::BN) + tid;
}

/* Sharing: the sums of the blocks that share a tile. All put theirs down, the last one to come adds
 * them up, in the order of k, so that the sum is the same each time. True in that block. */
template <class S>
__device__ bool reduce_workers(float (&sum)[S::TM][S::TN], const Task &task, bool &is_last,
                               const Place<S> &me)
{
    const int first_worker = task.first_worker;

    if (me.slice == 0)
#pragma unroll
        for (int i = 0; i < S::TM * S::TN; ++i)
            __stcg(place_of_parts<S>(blockIdx.x, first_worker, me.tid) + i * S::SLICE_THREADS,
                   sum[i / S::TN][i % S::TN]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicAdd(&parts_done[first_worker], 1) == task.workers - 1;
        if (is_last)
            parts_done[first_worker] = 0; /* for the next launch */
    }
    __syncthreads();
    if (!is_last || me.slice > 0)
        return false;
    __threadfence();
#pragma unroll
    for (int i = 0; i < S::TM * S::TN; ++i)
        sum[i / S::TN][i % S::TN] = 0.0f;
#pragma unroll 1
    for (int worker = first_worker; worker < first_worker + task.workers; ++worker) {
        const float *from = place_of_parts<S>(worker, first_worker, me.tid);
#pragma unroll
        for (int i = 0; i < S::TM * S::TN; ++i)
            sum[i / S::TN][i % S::TN] += __ldcg(from + i * S::SLICE_THREADS);
    }
    return true;
}

/* Storing: four neighbours of a row of C, of which the columns from own_col on are this tile's. */
template <bool WIDE>
__device__ void store_four(float *to, const float *sum, float alpha, float beta, int col,
                           int own_col)
{
    if (!WIDE) {
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (col + e >= own_col)
                to[e] = beta == 0.0f ? alpha * sum[e] : alpha * sum[e] + beta * to[e];
    } else if (col >= own_col) {
        float4 v = {alpha * sum[0], alpha * sum[1], alpha * sum[2], alpha * sum[3]};
        if (beta != 0.0f) {
            float4 old = *(const float4 *)to;
            v.x += beta * old.x;
            v.y += beta * old.y;
            v.z += beta * old.z;
            v.w += beta * old.w;
        }
        *(float4 *)to = v;
    }
}

template <class S, bool WIDE>
__device__ void store_tile(const float (&sum)[S::TM][S::TN], float alpha, float beta, float *C,
                           int n, const Task &task, const Place<S> &me)
{
    const int row = task.row + me.row, col = task.col + me.col;
    const int own_row = task.own_row, own_col = task.own_col;
#pragma unroll
    for (int i = 0; i < S::TM; ++i) {
        const int r = row + i / 4 * (4 * S::LANES_M) + i % 4;
        if (r < own_row)
            continue;
        float *const to_row = C + (size_t)r * n + col;
#pragma unroll
        for (int j = 0; j < S::TN; j += 4)
            store_four<WIDE>(to_row + j * S::LANES_N, &sum[i][j], alpha, beta,
                             col + j * S::LANES_N, own_col);
    }
}

template <class S, bool WIDE>
__global__ void __launch_bounds__(S::THREADS, 1)
mysgemm(int m, int n, int k, float alpha, const float *__restrict__ A, const float *__restrict__ B,
        float beta, float *__restrict__ C, int tiles_m, int tiles_n, int steps_of_tile,
        Shares shares)
{
    extern __shared__ float4 shared[];
    __shared__ Task task;
    __shared__ bool is_last; /* not in reduce_workers(): the loop is slower then (CUDA 13.0) */

    if ((int)blockIdx.x >= shares.workers) {
        compute_rim<S>(m, n, k, alpha, A, B, beta, C, tiles_n * S::BN,
                       blockIdx.x - shares.workers);
        return;
    }
    const Place<S> me;
    Loader<S, WIDE> loader(A, B, n, k, me.tid);
    float *const stages = (float *)shared + me.slice * (S::STAGE_FLOATS * S::STAGES);
    const int ragged = k - (steps_of_tile - 1) * S::STEP; /* of k, in the first step: 1 to STEP */

    if (threadIdx.x == 0)
        task.first = first_step(shares, blockIdx.x);
    do {
        __syncthreads(); /* the last task is done with shared memory */
        if (threadIdx.x == 0)
            find_task<S>(&task, m, n, tiles_m, tiles_n, steps_of_tile, shares);
        __syncthreads();
        const int begin = task.begin, end = task.end;
        float sum[S::TM][S::TN] = {};

        loader.go_to(task.row, task.col, me.slice);
        loader.fill(stages, begin, end, ragged, me.slice);
        compute<S>(sum, loader, stages, end - begin, me);
        reduce_slices<S>(sum, (float *)shared + me.tid, me);
        bool stores = me.slice == 0;
        if (S::SHARES && task.workers > 1)
            stores = reduce_workers<S>(sum, task, is_last, me);
        if (stores)
            store_tile<S, WIDE>(sum, alpha, beta, C, n, task, me);
    } while (S::SHARES && task.first >= 0);
}

/* For C of a few rows or columns, and for small problems, which take no longer than memory takes to
 * answer: tiles of 8 x 8, each thread a quarter of the products of one element, and all of A and B
 * that it needs asked for at once. */
#define SMALL 8
#define SMALL_K 64
#define SMALL_PARTS 4

__global__ void __launch_bounds__(SMALL * SMALL * SMALL_PARTS)
mysgemm_small(int m, int n, int k, float alpha, const float *__restrict__ A,
              const float *__restrict__ B, float beta, float *__restrict__ C)
{
    __shared__ float A_s[SMALL][SMALL_K + 1], B_s[SMALL_K][SMALL];
    __shared__ float sums[SMALL_PARTS][SMALL][SMALL];
    constexpr int THREADS = SMALL * SMALL * SMALL_PARTS;
    const int tiles_n = (n + SMALL - 1) / SMALL;
    const int row0 = blockIdx.x / tiles_n * SMALL, col0 = blockIdx.x % tiles_n * SMALL;
    const int tx = threadIdx.x % SMALL, ty = threadIdx.x / SMALL % SMALL;
    const int part = threadIdx.x / (SMALL * SMALL);
    float sum = 0.0f;

    for (int k0 = 0; k0 < k; k0 += SMALL_K) {
        const int here = min(SMALL_K, k - k0);
        __syncthreads(); /* everyone has read the last tiles */
#pragma unroll
        for (int i = threadIdx.x; i < SMALL * SMALL_K; i += THREADS) {
            const int a_row = i / SMALL_K, a_col = i % SMALL_K;
            const int b_row = i / SMALL, b_col = i % SMALL;
            A_s[a_row][a_col] = row0 + a_row < m && a_col < here
                                    ? A[(size_t)(row0 + a_row) * k + k0 + a_col] : 0.0f;
            B_s[b_row][b_col] = b_row < here && col0 + b_col < n
                                    ? B[(size_t)(k0 + b_row) * n + col0 + b_col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < SMALL_K / SMALL_PARTS; ++i) {
            const int kk = i * SMALL_PARTS + part;
            sum += A_s[ty][kk] * B_s[kk][tx];
        }
    }
    sums[part][ty][tx] = sum;
    __syncthreads();
    if (part > 0 || row0 + ty >= m || col0 + tx >= n)
        return;
    for (int i = 1; i < SMALL_PARTS; ++i)
        sum += sums[i][ty][tx];
    float *to = C + (size_t)(row0 + ty) * n + col0 + tx;
    *to = beta == 0.0f ? alpha * sum : alpha * sum + beta * *to;
}

/* How one shape would do a problem. */
struct Plan {
    int tiles_m, tiles_n, steps_of_tile, rim_blocks;
    Shares shares;
    double cost;
};

static int ceiling(int a, int b) { return a / b + (a % b > 0); }

/* What it takes, in microseconds: a step, a tile beside its steps, a tile that is shared beside
 * them, and all the rest. Fitted to runs of some thirty sizes on an H200 (docs/ladder.md); on
 * other GPUs the figures are wrong, but not by far against each other, and only the choice depends
 * on them. */
struct Cost {
    double step, tile, shared_tile, rest;
};

/* What there is: multiprocessors, and bytes of shared memory that a block may have. */
struct Device {
    int processors, shared_bytes;
};

template <class S>
static Plan plan(int m, int n, int k, const Device &device, const Cost &cost)
{
    const int processors = device.processors;
    Plan p = {ceiling(m, S::BM), ceiling(n, S::BN), ceiling(k, S::BK * S::SLICES), 0, {}, INFINITY};
    if (m < S::BM || n < S::BN || S::SHARED_BYTES > device.shared_bytes)
        return p; /* no tile fits */
    if (n % S::BN > 0 && n % S::BN <= RIM) {
        --p.tiles_n;
        p.rim_blocks = ceiling(m, S::THREADS / 32 * RIM_ROWS);
    }
    const int tiles = p.tiles_m * p.tiles_n, steps = tiles * p.steps_of_tile;
    const int sharing = min(processors, min(MOST_SHARING, PARTS_FLOATS / (2 * S::BM * S::BN)));
    const double alone = ceiling(tiles, processors) * (p.steps_of_tile * cost.step + cost.tile);
    const double shared = (double)steps / sharing * cost.step + cost.shared_tile;
    const bool shares = S::SHARES && steps >= sharing && shared < alone;
    const int workers = shares ? sharing : tiles;
    p.shares = {workers, steps / workers, steps % workers};
    p.cost = cost.rest + (shares ? shared : alone);
    return p;
}

template <class S>
static void launch(const Plan &p, int m, int n, int k, float alpha, const float *A, const float *B,
                   float beta, float *C)
{
    const bool wide = n % 4 == 0 && ((uintptr_t)B | (uintptr_t)C) % 16 == 0;
    auto kernel = wide ? mysgemm<S, true> : mysgemm<S, false>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::SHARED_BYTES);
    kernel<<<p.shares.workers + p.rim_blocks, S::THREADS, S::SHARED_BYTES>>>(
        m, n, k, alpha, A, B, beta, C, p.tiles_m, p.tiles_n, p.steps_of_tile, p.shares);
}

/*                  BM   BN  BK  WM  WN  TM TN  SLICES STAGES SHARES */
typedef Shape<128, 256, 16, 64, 64, 16, 8, 1, 4, true> Large;
typedef Shape< 64, 128,  8, 64, 64, 16, 8, 4, 6, false> Medium;
typedef Shape< 64,  96,  8, 64, 32,  8, 8, 4, 6, false> Narrow;
typedef Shape< 32,  64,  8, 32, 64,  8, 8, 8, 6, false> Little;
typedef Shape< 32,  64,  8, 32, 64,  8, 8, 8, 6, true> Deep;

void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    int number = 0;
    Device device = {};
    cudaGetDevice(&number);
    cudaDeviceGetAttribute(&device.processors, cudaDevAttrMultiProcessorCount, number);
    cudaDeviceGetAttribute(&device.shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, number);

    const Plan large = plan<Large>(m, n, k, device, {2.62, 6.8, 21.4, 7.7});
    const Plan medium = plan<Medium>(m, n, k, device, {1.41, 3.3, 0, 4.2});
    const Plan narrow = plan<Narrow>(m, n, k, device, {1.17, 2.7, 0, 3.9});
    const Plan little = plan<Little>(m, n, k, device, {0.83, 2.7, 0, 4.1});
    const Plan deep = plan<Deep>(m, n, k, device, {0.92, 2.8, 8.6, 4.5});
    const double best =
        min(min(min(large.cost, medium.cost), min(narrow.cost, little.cost)), deep.cost);
    const double tiny = (double)ceiling(m, SMALL) * ceiling(n, SMALL) * ceiling(k, SMALL_K);

    if (tiny < 1000 || best == INFINITY)
        mysgemm_small<<<ceiling(m, SMALL) * ceiling(n, SMALL), SMALL * SMALL * SMALL_PARTS>>>(
            m, n, k, alpha, A, B, beta, C);
    else if (best == large.cost)
        launch<Large>(large, m, n, k, alpha, A, B, beta, C);
    else if (best == medium.cost)
        launch<Medium>(medium, m, n, k, alpha, A, B, beta, C);
    else if (best == narrow.cost)
        launch<Narrow>(narrow, m, n, k, alpha, A, B, beta, C);
    else if (best == little.cost)
        launch<Little>(little, m, n, k, alpha, A, B, beta, C);
    else
        launch<Deep>(deep, m, n, k, alpha, A, B, beta, C);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
