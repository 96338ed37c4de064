/* Every shape: a kernel for each kind of product, and a choice between them by a model of time.
 *
 * 7_warp_tiles.cu and 8_best.cu are for products with enough tiles. Of two hundred shapes drawn at
 * random most are others: products so small that the launch and one answer of memory are all of
 * their time, vectors, thin matrices, a long k, a k of 1 or 2. What limits those is not arithmetic:
 *
 * - mysgemm_small:   tiles of 8 to 32, the threads share k. All that a block needs is asked for at
 *                    once.
 * - mysgemm_columns: C of a few columns. Threads lie along k, and add up by shuffles.
 * - mysgemm_rows:    C of a few rows. Threads lie along B's rows; A is in shared memory.
 * - mysgemm_outer:   k of a few. B's values stay in registers, and the kernel writes C.
 * - mysgemm:         tiles, as in 8_best.cu: the warps of a block share k where tiles are few.
 *
 * In all but mysgemm_outer, blocks can share k, too: each puts its sums down in global memory, and
 * the last one to come adds them up, in one launch. Where that is worth it, and with which kernel,
 * plan() estimates: blocks a multiprocessor, times what a block does, and what sums and memory
 * take. The constants are fitted to some five hundred shapes on an H100 (docs/ladder.md).
 *
 * It reaches 128 * 256 / (2 * (128 + 256)) = 43 operations for each byte of global memory.
 *
 * intensity: 42.67 FLOP/byte
 * loses:    nothing */

#include <cuda_pipeline.h>
#include <stdint.h>

/* C = alpha A B + beta C, all row by row. */
struct Problem {
    const float *A, *B;
    float *C;
    int m, n, k;
    float alpha, beta;
};

#define THREADS 256           /* of a block, except of mysgemm's */
#define RIM 4                 /* most rows or columns that are left to the rim's blocks */
#define GROUP 8               /* rows of tiles that are done together, for the L2 cache */
#define FAN 16                /* most sums of blocks that one block adds up */
#define MOST_ROWS (8 * 65000) /* of C that one launch does */
#define RIM_COST 2.5          /* microseconds, of plan(), */
#define RIM_COST_OF_K 0.006   /* and for each k */

/* Sums of blocks that share a tile, and how many have come. All launches use the same: two that
 * overlap, on streams of their own, would spoil each other's. */
#define PARTS_FLOATS (160 * 2 * 128 * 256)
#define MOST_PARTS 65536
__device__ float4 parts_memory[PARTS_FLOATS / 4];
__device__ unsigned parts_done[2][MOST_PARTS]; /* FAN * FAN blocks at most share a tile */

/* So many floats that lie side by side. */
template <int V>
struct alignas(4 * V) Piece {
    float of[V];

    __device__ void add(const Piece &other, float factor = 1.0f)
    {
#pragma unroll
        for (int i = 0; i < V; ++i)
            of[i] += factor * other.of[i];
    }
};

template <int V>
__device__ void store(const Problem &p, int row, int col, Piece<V> v)
{
    Piece<V> *to = (Piece<V> *)(p.C + (size_t)row * p.n + col);
    if (p.beta != 0.0f)
        v.add(*to, p.beta);
    *to = v;
}

/* True in the last of so many blocks that come here with the same counter. */
__device__ bool is_last(unsigned *counter, int blocks)
{
    __shared__ bool last;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(counter, 1) == (unsigned)blocks - 1;
        if (last)
            *counter = 0; /* for the next launch */
    }
    __syncthreads();
    __threadfence();
    return last;
}

/* Part number `part` of the `share` parts of a tile has been put down, each of COUNT pieces; the
 * last block of each FAN adds them up, and the last of those again, always in the same order. The
 * last of all hands its sums over to put(e, v). */
template <int V, int COUNT, int threads, class Slot, class Put>
__device__ void add_parts(int part, int share, Slot slot, Put put)
{
    constexpr int AT_ONCE = COUNT >= 4 * threads ? 4 : 1; /* elements a thread waits for */
    Piece<V> *const parts = (Piece<V> *)parts_memory;

    for (int level = 0, apart = 1;; ++level, apart *= FAN) {
        const int first = part / FAN * FAN, members = min(FAN, share - first);
        if (!is_last(&parts_done[level][slot(first * apart)], members))
            return;
        for (int e0 = threadIdx.x; e0 < COUNT; e0 += AT_ONCE * threads) {
            Piece<V> v[AT_ONCE] = {};
#pragma unroll 4
            for (int i = first; i < first + members; ++i)
#pragma unroll
                for (int u = 0; u < AT_ONCE; ++u)
                    if (e0 + u * threads < COUNT)
                        v[u].add(parts[(size_t)slot(i * apart) * COUNT + e0 + u * threads]);
#pragma unroll
            for (int u = 0; u < AT_ONCE; ++u)
                if (e0 + u * threads >= COUNT)
                    break;
                else if (share <= FAN)
                    put(e0 + u * threads, v[u]);
                else
                    parts[(size_t)slot(first * apart) * COUNT + e0 + u * threads] = v[u];
        }
        if (share <= FAN)
            return;
        part /= FAN;
        share = (share + FAN - 1) / FAN;
    }
}

__device__ int this_block()
{
    return (blockIdx.y * gridDim.x + blockIdx.x) * gridDim.z + blockIdx.z;
}

/* The end of all kernels but mysgemm. The block's COUNT sums, in GROUPS summands each, are in
 * shared memory; element e of them is at place(e), {row, col} of C. */
template <int COUNT, int GROUPS, class At>
__device__ void finish(const Problem &p, const float *sums, int share, At place)
{
    const int tile = this_block() - blockIdx.z;
    auto put = [&](int e, Piece<1> v) {
        const int2 at = place(e);
        if (at.x < p.m && at.y < p.n)
            store<1>(p, at.x, at.y, v);
    };
    __syncthreads();
    for (int e = threadIdx.x; e < COUNT; e += THREADS) {
        Piece<1> v = {};
#pragma unroll
        for (int g = 0; g < GROUPS; ++g)
            v.of[0] += sums[g * COUNT + e];
        v.of[0] *= p.alpha;
        if (share == 1)
            put(e, v);
        else
            ((Piece<1> *)parts_memory)[(size_t)this_block() * COUNT + e] = v;
    }
    if (share > 1)
        add_parts<1, COUNT, THREADS>(blockIdx.z, share, [&](int i) { return tile + i; }, put);
}

/* ---- small products ---- */

/* T x T elements of C a block, KC values of k at a time. The threads are four slices of 64, which
 * share k; a thread has R x R elements. */
template <int T, int KC>
__global__ void __launch_bounds__(THREADS) mysgemm_small(const Problem p, int chunks)
{
    constexpr int R = T / 8, A_ROW = KC + 4, SLICES = 4, SLICE = KC / SLICES;
    constexpr int FLOATS = T * A_ROW + KC * T, SUMS = SLICES * T * T;
    __shared__ float4 shared[(FLOATS > SUMS ? FLOATS : SUMS) / 4];
    float *const A_s = (float *)shared, *const B_s = A_s + T * A_ROW;
    const int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    const int begin = blockIdx.z * chunks * KC, end = min(p.k, begin + chunks * KC);
    const int tx = threadIdx.x % 8, ty = threadIdx.x / 8 % 8, slice = threadIdx.x / 64;
    float sum[R][R] = {};

    for (int k0 = begin; k0 < end; k0 += KC) {
        if (k0 > begin)
            __syncthreads(); /* everyone has read the last tiles */
#pragma unroll
        for (int i = threadIdx.x; i < T * KC; i += THREADS) {
            const int a_row = i / KC, a_col = i % KC, b_row = i / T, b_col = i % T;
            A_s[a_row * A_ROW + a_col] =
                row0 + a_row < p.m && k0 + a_col < end
                    ? p.A[(size_t)(row0 + a_row) * p.k + k0 + a_col] : 0.0f;
            B_s[i] = k0 + b_row < end && col0 + b_col < p.n
                         ? p.B[(size_t)(k0 + b_row) * p.n + col0 + b_col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int kk = slice * SLICE; kk < (slice + 1) * SLICE; kk += 4) {
            Piece<4> a[R];
#pragma unroll
            for (int i = 0; i < R; ++i)
                a[i] = *(const Piece<4> *)(A_s + (ty + 8 * i) * A_ROW + kk);
#pragma unroll
            for (int l = 0; l < 4; ++l) {
                const Piece<R> b = *(const Piece<R> *)(B_s + (kk + l) * T + tx * R);
#pragma unroll
                for (int e = 0; e < R * R; ++e)
                    sum[e / R][e % R] += a[e / R].of[l] * b.of[e % R];
            }
        }
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < R * R; ++e)
        A_s[(slice * T + ty + 8 * (e / R)) * T + tx * R + e % R] = sum[e / R][e % R];
    finish<T * T, SLICES>(p, A_s, gridDim.z,
                          [&](int e) { return make_int2(row0 + e / T, col0 + e % T); });
}

/* ---- few columns: along k ---- */

/* The sums of LANES neighbouring lanes, V of each, added up: each lane is left with max(1, V /
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
template <int R, int N, int AT_ONCE>
__device__ void dot(float (&sum)[R * N], const Problem &p, int row, int col, int first, int end,
                    int apart)
{
#pragma unroll 1
    for (int i0 = first; i0 < end; i0 += AT_ONCE * apart) {
        float a[AT_ONCE][R], b[AT_ONCE][N];
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            const int i = i0 + u * apart;
            const bool there = i < end;
#pragma unroll
            for (int r = 0; r < R; ++r)
                a[u][r] = there ? p.A[(size_t)min(row + r, p.m - 1) * p.k + i] : 0.0f;
#pragma unroll
            for (int c = 0; c < N; ++c)
                b[u][c] = there ? p.B[(size_t)i * p.n + min(col + c, p.n - 1)] : 0.0f;
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u)
#pragma unroll
            for (int e = 0; e < R * N; ++e)
                sum[e] += a[u][e / N] * b[u][e % N];
    }
}

/* A team of L threads does R rows, N columns; it is a part of a warp, a warp, or the block. */
template <int R, int N, int L, int AT_ONCE>
__global__ void __launch_bounds__(THREADS) mysgemm_columns(const Problem p, int chunks)
{
    constexpr int LANES = L < 32 ? L : 32, V = R * N, TEAMS = THREADS / L;
    constexpr int LEFT = V > LANES ? V / LANES : 1, SAME = V < LANES ? LANES / V : 1;
    __shared__ float sums[V * (THREADS / LANES)];
    const int row0 = blockIdx.x * (TEAMS * R), team = threadIdx.x / L;
    const int begin = blockIdx.z * chunks * (L * AT_ONCE);
    const int end = min(p.k, begin + chunks * (L * AT_ONCE));
    float sum[V] = {};

    dot<R, N, AT_ONCE>(sum, p, row0 + team * R, 0, begin + threadIdx.x % L, end, L);
    const int first = threadIdx.x / LANES * V + reduce_lanes<V, LANES>(sum);
    if (threadIdx.x % SAME == 0)
#pragma unroll
        for (int i = 0; i < LEFT; ++i)
            sums[first + i] = sum[i];
    finish<V * TEAMS, L / LANES>(p, sums, gridDim.z,
                                 [&](int e) { return make_int2(row0 + e / N, e % N); });
}

/* ---- few rows: along columns ---- */

/* The rows from row0 on, M of them at most, and the columns from col0 on, up to end_col: a thread
 * has W of those, GROUPS of threads share k. B is loaded a chunk ahead. */
template <int M, int GROUPS, int W, int AT_ONCE, bool WIDE>
__device__ void compute_rows(const Problem &p, int row0, int col0, int end_col, int begin, int end,
                             int share, float *A_s)
{
    constexpr int LANES = THREADS / GROUPS, COLS = LANES * W, CHUNK = GROUPS * AT_ONCE;
    constexpr int V = M < 4 ? M : 4, A_ROW = M < 4 ? M : M + 4;
    const int x = threadIdx.x % LANES, group = threadIdx.x / LANES;
    float sum[M][W] = {}, b[2][AT_ONCE][W];

    auto load = [&](float (&to)[AT_ONCE][W], int k0) {
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u) {
            const int kk = k0 + group * AT_ONCE + u;
            const float *from = p.B + (size_t)kk * p.n;
            if (WIDE && W > 1)
                *(Piece<W> *)to[u] = kk < end && col0 + W * x < p.n
                                         ? *(const Piece<W> *)(from + col0 + W * x) : Piece<W>{};
            else
#pragma unroll
                for (int w = 0; w < W; ++w)
                    to[u][w] = kk < end && col0 + x + LANES * w < p.n
                                   ? from[col0 + x + LANES * w] : 0.0f;
        }
    };
    load(b[0], begin);
#pragma unroll 1
    for (int k0 = begin; k0 < end; k0 += CHUNK) {
        if (k0 > begin)
            __syncthreads(); /* everyone has read the last chunk */
#pragma unroll
        for (int i = threadIdx.x; i < CHUNK * M; i += THREADS) {
            const int row = row0 + i / CHUNK, kk = k0 + i % CHUNK;
            A_s[i % CHUNK * A_ROW + i / CHUNK] =
                row < p.m && kk < end ? p.A[(size_t)row * p.k + kk] : 0.0f;
        }
        __syncthreads();
        load(b[1], k0 + CHUNK);
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u)
#pragma unroll
            for (int r = 0; r < M; r += V) {
                const Piece<V> a = *(const Piece<V> *)(A_s + (group * AT_ONCE + u) * A_ROW + r);
#pragma unroll
                for (int e = 0; e < V * W; ++e)
                    sum[r + e / W][e % W] += a.of[e / W] * b[0][u][e % W];
            }
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
    finish<M * COLS, GROUPS>(p, A_s, share, [&](int e) {
        const int col = col0 + e % COLS;
        return make_int2(row0 + e / COLS, col < end_col ? col : p.n);
    });
}

/* Floats of shared memory that it takes. */
template <int M, int GROUPS, int W, int AT_ONCE>
struct Rows {
    static constexpr int STAGED = GROUPS * AT_ONCE * (M + 4), SUMS = M * THREADS * W;
    static constexpr int FLOATS = STAGED > SUMS ? STAGED : SUMS;
};

template <int M, int GROUPS, int W, int AT_ONCE, bool WIDE>
__global__ void __launch_bounds__(THREADS) mysgemm_rows(const Problem p, int chunks)
{
    constexpr int CHUNK = GROUPS * AT_ONCE;
    __shared__ float4 shared[Rows<M, GROUPS, W, AT_ONCE>::FLOATS / 4];
    const int begin = blockIdx.z * chunks * CHUNK;
    compute_rows<M, GROUPS, W, AT_ONCE, WIDE>(p, 0, blockIdx.x * (THREADS / GROUPS * W), p.n, begin,
                                              min(p.k, begin + chunks * CHUNK), gridDim.z,
                                              (float *)shared);
}

/* ---- k of a few: outer products ---- */

/* ROWS rows and 4 * LANES columns a block, four a thread. */
template <int K, int LANES, int ROWS, bool WIDE>
__global__ void __launch_bounds__(THREADS) mysgemm_outer(const Problem p)
{
    constexpr int V = WIDE ? 4 : 1, PIECES = 4 / V, WARPS = THREADS / LANES;
    __shared__ float A_s[ROWS * K];
    const int x = threadIdx.x % LANES, y = threadIdx.x / LANES;
    const int row0 = blockIdx.y * ROWS, col0 = blockIdx.x * (4 * LANES);
    float b[K][4];

#pragma unroll
    for (int i = 0; i < K; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int col = col0 + (WIDE ? 4 * x + j : x + LANES * j);
            b[i][j] = i < p.k && col < p.n ? p.B[(size_t)i * p.n + col] : 0.0f;
        }
    for (int e = threadIdx.x; e < ROWS * K; e += THREADS) {
        const int row = row0 + e / K, i = e % K;
        A_s[e] = row < p.m && i < p.k ? p.alpha * p.A[(size_t)row * p.k + i] : 0.0f;
    }
    __syncthreads();
#pragma unroll 4
    for (int r = y; r < min(ROWS, p.m - row0); r += WARPS) {
        float sum[4] = {};
#pragma unroll
        for (int i = 0; i < K; ++i)
#pragma unroll
            for (int j = 0; j < 4; ++j)
                sum[j] += A_s[r * K + i] * b[i][j];
#pragma unroll
        for (int j = 0; j < PIECES; ++j) {
            const int col = col0 + (WIDE ? 4 * x : x + LANES * j);
            Piece<V> v;
#pragma unroll
            for (int e = 0; e < V; ++e)
                v.of[e] = sum[j * V + e];
            if (col < p.n)
                store<V>(p, row0 + r, col, v);
        }
    }
}

/* ---- tiles ---- */

/* A block computes BM x BN elements of C, BK values of k at a time in each of its SLICES; a warp
 * WM x WN, a thread TM x TN of them. STAGES steps are in shared memory or on their way there;
 * RESIDENT blocks fit on a multiprocessor. */
template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_, int TN_, int SLICES_, int STAGES_,
          int RESIDENT_, bool CLAMPS_, bool STREAMS_>
struct Shape {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, TM = TM_, TN = TN_;
    static constexpr int SLICES = SLICES_, STAGES = STAGES_, RESIDENT = RESIDENT_;
    static constexpr bool CLAMPS = CLAMPS_;   /* tiles may be larger than C */
    static constexpr bool STREAMS = STREAMS_; /* the grid's steps are shared out evenly */
    static constexpr int SLICE_THREADS = (BM / WM) * (BN / WN) * 32;
    static constexpr int BLOCK = SLICE_THREADS * SLICES;
    static constexpr int STEP = BK * SLICES; /* values of k in a step */
    static constexpr int LANES_M = WM / TM, LANES_N = WN / TN;
    static constexpr int A_ROW = BM + 4; /* of A's transposed tile: 8 columns hit 32 banks */
    static constexpr int STAGE = BK * (A_ROW + BN);
    static constexpr int STAGED = STAGE * STAGES * SLICES, SUMS = BM * BN * SLICES;
    static constexpr int SHARED_FLOATS = TM % 8 > 0 && SUMS > STAGED ? SUMS : STAGED;
    /* In so many passes the sums go to shared memory. */
    static constexpr int PASSES = SUMS <= SHARED_FLOATS ? 1 : SUMS <= 2 * SHARED_FLOATS ? 2 : 4;
    static constexpr int SHARED_BYTES = SHARED_FLOATS * (int)sizeof(float);
    static_assert(SUMS <= PASSES * SHARED_FLOATS && TM % (4 * PASSES) == 0, "room for sums");
    static_assert(LANES_M * LANES_N == 32 && TM % 4 == 0 && TN % 4 == 0, "a warp's tile");
    static_assert(BM % WM == 0 && BN % WN == 0, "whole warps' tiles");
    static_assert(BK % 8 == 0, "8 columns of A are copied side by side");
};

/* How the work is shared out: each tile to so many blocks (grid.z), `chunks` steps each; or, where
 * the shape streams, `whole` tiles to each of so many workers, and then the steps of all other
 * tiles evenly, the first `longer` workers doing one more. */
struct Grid {
    int tiles_m, tiles_n, steps_of_tile, chunks;
    int workers, whole, steps, longer;
};

/* What a block does next. */
struct Task {
    int done;                  /* whole tiles and then steps of others; of a shape that streams */
    int begin, end;            /* steps of the tile */
    int row, col;              /* where the tile is */
    int own_row, own_col;      /* the first ones that are no other tile's, too */
    int part, share;           /* of so many blocks that share the tile */
};

template <class S>
__device__ void set_place(Task &task, const Problem &p, int tile_m, int tile_n)
{
    task.own_row = tile_m * S::BM;
    task.own_col = tile_n * S::BN;
    task.row = S::CLAMPS ? task.own_row : min(task.own_row, p.m - S::BM);
    task.col = S::CLAMPS ? task.own_col : min(task.own_col, p.n - S::BN);
}

__device__ int first_step(const Grid &g, int worker)
{
    return worker * g.steps + min(worker, g.longer);
}

__device__ int worker_of(const Grid &g, int step)
{
    const int of_longer = g.longer * (g.steps + 1);
    return step < of_longer ? step / (g.steps + 1) : g.longer + (step - of_longer) / g.steps;
}

template <class S>
__device__ void find_task(Task &task, const Problem &p, const Grid &g)
{
    if (!S::STREAMS) {
        task.begin = blockIdx.z * g.chunks;
        task.end = min(g.steps_of_tile, task.begin + g.chunks);
        task.part = blockIdx.z;
        task.share = gridDim.z;
        set_place<S>(task, p, blockIdx.y, blockIdx.x);
        return;
    }
    int tile = task.done * g.workers + blockIdx.x;
    task.begin = 0;
    task.end = g.steps_of_tile;
    task.part = 0;
    task.share = 1;
    if (task.done < g.whole)
        ++task.done;
    else {
        const int first = first_step(g, blockIdx.x) + task.done - g.whole;
        const int left = first_step(g, blockIdx.x + 1) - first, shared = first / g.steps_of_tile;
        tile = g.whole * g.workers + shared;
        task.begin = first - shared * g.steps_of_tile;
        task.end = min(g.steps_of_tile, task.begin + left);
        task.done += task.end - task.begin;
        const int first_worker = worker_of(g, shared * g.steps_of_tile);
        task.part = blockIdx.x - first_worker;
        task.share = worker_of(g, (shared + 1) * g.steps_of_tile - 1) - first_worker + 1;
    }
    const int of_group = GROUP * g.tiles_n, group = tile / of_group, in_group = tile % of_group;
    const int rows = min(GROUP, g.tiles_m - group * GROUP);
    set_place<S>(task, p, group * GROUP + in_group % rows, in_group / rows);
}

/* Which part of its block's work is a thread's: its slice, its place in it, and where in its
 * tiles of A and B it finds its first row and column of C. */
template <class S>
struct Place {
    int slice, tid, row, col;

    __device__ Place()
    {
        /* The compiler does not compute what comes out of a shuffle again and again in the loop. */
        const int thread = __shfl_sync(0xffffffff, threadIdx.x, threadIdx.x % 32);
        slice = S::SLICES == 1 ? 0 : thread / S::SLICE_THREADS;
        tid = S::SLICES == 1 ? thread : thread % S::SLICE_THREADS;
        const int warp = tid / 32, lane = tid % 32;
        row = warp / (S::BN / S::WN) * S::WM + lane / S::LANES_N * 4;
        col = warp % (S::BN / S::WN) * S::WN + lane % S::LANES_N * 4;
    }
};

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
                                                              : 4;
    static constexpr int B_COLS = PIECES / B_WIDTH, B_ROWS = S::SLICE_THREADS / B_WIDTH;
    static constexpr int B_PASSES = (S::BK + B_ROWS - 1) / B_ROWS;
    static constexpr int COPIES = A_COPIES + B_PASSES * B_COLS;
    static constexpr int LOTS = 4, APART = S::BK == 8 ? 1 : 3;
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

    __device__ void go_to(const Problem &p, const Task &task, int slice)
    {
#pragma unroll
        for (int i = 0; S::CLAMPS && i < A_PASSES; ++i)
            a_at[i] = min(a_row + i * A_ROWS, p.m - 1 - task.row) * k;
#pragma unroll
        for (int i = 0; S::CLAMPS && i < B_COLS; ++i)
            b_at[i] = min(b_col + i * B_WIDTH * PIECE, p.n - PIECE - task.col);
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

/* The slices' sums of a pass go to shared memory: so many neighbouring rows of each warp's tile. */
template <class S>
__device__ void put_sums(float *sums, const float (&sum)[S::TM][S::TN], float alpha, int pass,
                         const Place<S> &me)
{
    constexpr int ROWS = S::TM / S::PASSES, WARP = S::WM / S::PASSES;
    const int row = me.row / S::WM * WARP + me.row % S::WM;
    float *const to = sums + (me.slice * (S::BM / S::PASSES) + row) * S::BN + me.col;
#pragma unroll
    for (int i = 0; i < ROWS; ++i)
#pragma unroll
        for (int j = 0; j < S::TN; j += 4) {
            const float *from = &sum[pass * ROWS + i][j];
            const float4 v = {alpha * from[0], alpha * from[1], alpha * from[2], alpha * from[3]};
            *(float4 *)(to + (i / 4 * (4 * S::LANES_M) + i % 4) * S::BN + j * S::LANES_N) = v;
        }
}

/* Adds them up, with those of other blocks if they share the tile, and stores what is the tile's
 * own. */
template <class S, bool WIDE>
__device__ void store_tile(const Problem &p, float *sums, const float (&sum)[S::TM][S::TN],
                           const Task &task, const Place<S> &me)
{
    constexpr int V = WIDE ? 4 : 1, COUNT = S::BM * S::BN / V, PASS = COUNT / S::PASSES;
    constexpr int WARP = S::WM / S::PASSES;
    Piece<V> *const parts = (Piece<V> *)parts_memory;
    const int share = task.share, part = task.part;
    const int first = S::STREAMS ? 2 * (blockIdx.x - part) : this_block() - part;
    auto slot = [&](int i) { return S::STREAMS ? first + 2 * i + (i == 0) : first + i; };
    auto put = [&](int e, Piece<V> v) {
        const int pass = e / PASS, r = e % PASS / (S::BN / V);
        const int row = task.row + r / WARP * S::WM + pass * WARP + r % WARP;
        const int col = task.col + e % (S::BN / V) * V;
        if (row >= task.own_row && row < p.m && col >= task.own_col && col < p.n)
            store<V>(p, row, col, v);
    };
#pragma unroll
    for (int pass = 0; pass < S::PASSES; ++pass) {
        __syncthreads(); /* all have read what was there */
        put_sums<S>(sums, sum, p.alpha, pass, me);
        __syncthreads();
#pragma unroll 4
        for (int e = threadIdx.x; e < PASS; e += S::BLOCK) {
            Piece<V> v = ((const Piece<V> *)sums)[e];
#pragma unroll
            for (int s = 1; s < S::SLICES; ++s)
                v.add(((const Piece<V> *)sums)[s * PASS + e]);
            if (share == 1)
                put(pass * PASS + e, v);
            else
                parts[(size_t)slot(part) * COUNT + pass * PASS + e] = v;
        }
    }
    if (share > 1)
        add_parts<V, COUNT, S::BLOCK>(part, share, slot, put);
}

/* The last columns of C, RIM of them at most: a warp does 8 rows, its lanes share k. */
template <class S>
__device__ void compute_rim_columns(const Problem &p, int block, int col)
{
    const int row = (block * (S::BLOCK / 32) + threadIdx.x / 32) * 8;
    float sum[8 * RIM] = {};
    dot<8, RIM, 4>(sum, p, row, col, threadIdx.x % 32, p.k, 32);
    const int e = reduce_lanes<8 * RIM, 32>(sum);
    if (row + e / RIM < p.m && col + e % RIM < p.n)
        store<1>(p, row + e / RIM, col + e % RIM, Piece<1>{p.alpha * sum[0]});
}

/* What whole tiles leave over: first the columns, then the rows. */
template <class S>
__device__ void compute_rim(const Problem &p, const Grid &g, int block, float *shared)
{
    const int row = g.tiles_m * S::BM, col = g.tiles_n * S::BN;
    const int of_columns = p.n > col ? (p.m - 1) / (S::BLOCK / 4) + 1 : 0;
    if (block < of_columns)
        compute_rim_columns<S>(p, block, col);
    else if (S::BLOCK == THREADS && p.m > row)
        compute_rows<RIM, 8, 1, 16, false>(p, row, (block - of_columns) * 32, min(p.n, col), 0, p.k,
                                           1, shared);
}

template <class S, bool WIDE>
__global__ void __launch_bounds__(S::BLOCK, S::RESIDENT) mysgemm(const Problem p, const Grid g)
{
    extern __shared__ float4 shared_memory[];
    __shared__ Task task; /* in shared memory, because the loop needs all registers */
    float *const shared = (float *)shared_memory;

    if (!S::CLAMPS && (S::STREAMS ? (int)blockIdx.x >= g.workers : (int)blockIdx.y >= g.tiles_m)) {
        if (blockIdx.z == 0)
            compute_rim<S>(p, g, S::STREAMS ? blockIdx.x - g.workers
                                 : (blockIdx.y - g.tiles_m) * gridDim.x + blockIdx.x, shared);
        return;
    }
    const Place<S> me;
    Loader<S, WIDE> loader(p, me.tid);
    float *const stages = shared + me.slice * (S::STAGE * S::STAGES);
    const int ragged = p.k - (g.steps_of_tile - 1) * S::STEP; /* of k, in step 0: 1 to STEP */
    const int all =
        S::STREAMS ? g.whole + first_step(g, blockIdx.x + 1) - first_step(g, blockIdx.x) : 0;

    if (S::STREAMS && threadIdx.x == 0)
        task.done = 0;
    do {
        if (S::STREAMS)
            __syncthreads(); /* the last task is done with shared memory */
        if (threadIdx.x == 0)
            find_task<S>(task, p, g);
        __syncthreads();
        const int begin = task.begin, end = task.end;
        float sum[S::TM][S::TN] = {};

        loader.go_to(p, task, me.slice);
        loader.fill(stages, begin, end, ragged, me.slice);
        compute<S>(sum, loader, stages, end - begin, me);
        store_tile<S, WIDE>(p, shared, sum, task, me);
    } while (S::STREAMS && task.done < all);
}

/* ---- which kernel ---- */

/* What a kernel takes, in microseconds: the launch and all else that it takes once; a wave of
 * blocks; a chunk of k, where a block waits for it, and where the multiprocessor is busy with it;
 * a sum of parts, and each part; how many times a chunk takes where rows are no whole vectors; a
 * megabyte. */
struct Cost {
    double rest, wave, chunk, busy, sum, part, odd, megabyte;
};

struct Plan {
    int tiles_m, tiles_n, share, chunks, rim; /* share 0: streams; rim: blocks */
    double cost;
};

struct Kernel {
    int rows, cols, depth; /* of C and k: what a block does of them in one chunk */
    int resident;          /* blocks a multiprocessor */
    int most_m, most_n, most_k;
    bool whole;            /* tiles must not be larger than C, and have rims */
    bool streams, splits;
    int threads, shared_bytes;
    void (*launch)(const Problem &p, const Plan &plan, int processors);
    Cost cost;
};

static int ceiling(long long a, long long b) { return (int)((a + b - 1) / b); }

static bool is_wide(const Problem &p)
{
    return p.n % 4 == 0 && ((uintptr_t)p.B | (uintptr_t)p.C) % 16 == 0;
}

/* How the kernel would do it with so many blocks a tile; 0: the grid's steps shared out evenly. The
 * cost is infinite where that cannot be. */
static Plan plan(const Kernel &kernel, const Problem &p, int processors, int share)
{
    const Cost &cost = kernel.cost;
    Plan made = {ceiling(p.m, kernel.rows), ceiling(p.n, kernel.cols), share, 0, 0, INFINITY};
    if (kernel.whole && p.n % kernel.cols > 0 && p.n % kernel.cols <= RIM) {
        --made.tiles_n;
        made.rim += ceiling(p.m, kernel.threads / 4);
    }
    if (kernel.whole && kernel.threads == THREADS && p.m % kernel.rows > 0 &&
        p.m % kernel.rows <= RIM) {
        --made.tiles_m;
        made.rim += ceiling(min(p.n, made.tiles_n * kernel.cols), 32);
    }
    const int all = ceiling(p.k, kernel.depth), tiles = made.tiles_m * made.tiles_n;
    if (share == 0) { /* nothing to share out, or less than a step for each */
        made.chunks = all;
        if ((double)(tiles % processors) * all < processors ||
            2.0 * processors * kernel.rows * kernel.cols > PARTS_FLOATS)
            return made;
    } else {
        made.chunks = ceiling(all, share);
        made.share = ceiling(all, made.chunks);
        const double parts = (double)tiles * made.share;
        if (made.share > 1 &&
            (parts * kernel.rows * kernel.cols > PARTS_FLOATS || parts > MOST_PARTS))
            return made;
    }
    const double loads = (double)tiles * max(made.share, 1) / processors;
    const double waves = share == 0 ? loads : ceil(loads / kernel.resident);
    const double megabytes = 4e-6 * ((double)p.m * p.k + (double)p.k * p.n + (double)p.m * p.n);
    const double waiting = waves * made.chunks * cost.chunk;
    const double busy = (share == 0 ? loads : ceil(loads)) * made.chunks * cost.busy;
    made.cost = cost.rest + waves * cost.wave +
                fmax(fmax(waiting, busy) * (is_wide(p) ? 1 : cost.odd), megabytes * cost.megabyte) +
                (made.share == 1 ? 0 : cost.sum + made.share * cost.part) +
                (made.rim > 0 ? RIM_COST + RIM_COST_OF_K * p.k : 0);
    return made;
}

template <int T, int KC>
static void launch_small(const Problem &p, const Plan &plan, int)
{
    const dim3 grid(plan.tiles_n, plan.tiles_m, plan.share);
    mysgemm_small<T, KC><<<grid, THREADS>>>(p, plan.chunks);
}

template <int R, int N, int L, int U>
static void launch_columns(const Problem &p, const Plan &plan, int)
{
    mysgemm_columns<R, N, L, U><<<dim3(plan.tiles_m, 1, plan.share), THREADS>>>(p, plan.chunks);
}

template <int M, int GROUPS, int W, int U>
static void launch_rows(const Problem &p, const Plan &plan, int)
{
    const dim3 grid(plan.tiles_n, 1, plan.share);
    if (W > 1 && is_wide(p))
        mysgemm_rows<M, GROUPS, W, U, true><<<grid, THREADS>>>(p, plan.chunks);
    else
        mysgemm_rows<M, GROUPS, W, U, false><<<grid, THREADS>>>(p, plan.chunks);
}

template <int K, int LANES, int ROWS>
static void launch_outer(const Problem &p, const Plan &plan, int)
{
    const dim3 grid(plan.tiles_n, plan.tiles_m);
    if (is_wide(p))
        mysgemm_outer<K, LANES, ROWS, true><<<grid, THREADS>>>(p);
    else
        mysgemm_outer<K, LANES, ROWS, false><<<grid, THREADS>>>(p);
}

template <class S>
static void launch_tiles(const Problem &p, const Plan &plan, int processors)
{
    const int tiles = plan.tiles_m * plan.tiles_n;
    Grid g = {plan.tiles_m, plan.tiles_n, ceiling(p.k, S::STEP), plan.chunks, 0, 0, 0, 0};
    dim3 grid(plan.tiles_n, plan.tiles_m + ceiling(plan.rim, plan.tiles_n), plan.share);
    if (S::STREAMS) {
        g.workers = plan.share == 0 ? processors : tiles;
        g.whole = tiles / g.workers;
        const int steps = (tiles - g.whole * g.workers) * g.steps_of_tile;
        g.steps = steps / g.workers;
        g.longer = steps % g.workers;
        grid = dim3(g.workers + plan.rim);
    }
    auto kernel = is_wide(p) ? mysgemm<S, true> : mysgemm<S, false>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::SHARED_BYTES);
    kernel<<<grid, S::BLOCK, S::SHARED_BYTES>>>(p, g);
}

#define ANY 0x7fffffff

template <int T, int KC>
static Kernel small(Cost cost)
{
    return {T, T, KC, 4, ANY, ANY, ANY, false, false, true, THREADS, 0, launch_small<T, KC>, cost};
}

template <int R, int N, int L, int U>
static Kernel columns(Cost cost)
{
    return {THREADS / L * R, N, L * U, 4, ANY, N, ANY, false, false, true, THREADS, 0,
            launch_columns<R, N, L, U>, cost};
}

template <int M, int GROUPS, int W, int U>
static Kernel rows(Cost cost)
{
    return {M, THREADS / GROUPS * W, GROUPS * U, 4, M, ANY, ANY, false, false, true, THREADS, 0,
            launch_rows<M, GROUPS, W, U>, cost};
}

template <int K, int LANES, int ROWS>
static Kernel outer(Cost cost)
{
    return {ROWS, 4 * LANES, K, 4, ANY, ANY, K, false, false, false, THREADS, 0,
            launch_outer<K, LANES, ROWS>, cost};
}

template <class S>
static Kernel tiles(Cost cost)
{
    return {S::BM, S::BN, S::STEP, S::RESIDENT, ANY, ANY, ANY, !S::CLAMPS, S::STREAMS, !S::STREAMS,
            S::BLOCK, S::SHARED_BYTES, launch_tiles<S>, cost};
}

static bool fits(const Kernel &kernel, const Problem &p)
{
    return p.m <= kernel.most_m && p.n <= kernel.most_n && p.k <= kernel.most_k &&
           (!kernel.whole || (p.m >= kernel.rows && p.n >= kernel.cols)) &&
           ceiling(p.m, kernel.rows) <= MOST_ROWS / 8;
}

/* Flat: several blocks on a multiprocessor, so that one loads and stores while others compute.
 * Sliced: one block, whose warps share k. */
/*            BM   BN  BK   WM   WN  TM  TN  SLICES STAGES RESIDENT CLAMPS STREAMS */
typedef Shape<128, 256, 16,  64,  64, 16,  8, 1, 4, 1, false, true> Large;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 1, 4, 4, true, false> Flat64x128;
typedef Shape< 64, 128,  8,  64,  64, 16,  8, 4, 6, 1, false, false> Sliced64x128;
typedef Shape< 48, 128,  8,  48,  64, 12,  8, 1, 4, 4, true, false> Flat48x128;
typedef Shape<128,  48,  8,  64,  48,  8, 12, 1, 4, 4, true, false> Flat128x48;
typedef Shape< 32, 128,  8,  32,  64,  8,  8, 2, 4, 3, true, false> Flat32x128;
typedef Shape< 64,  64,  8,  32,  32,  8,  4, 1, 4, 4, true, false> Flat64x64;
typedef Shape< 64,  64,  8,  64,  32,  8,  8, 4, 4, 1, true, false> Sliced64x64;
typedef Shape< 64,  48,  8,  64,  48,  8, 12, 8, 4, 1, true, false> Sliced64x48;
typedef Shape< 32,  64,  8,  32,  32,  8,  4, 2, 4, 4, true, false> Flat32x64;
typedef Shape< 32,  32,  8,  32,  32,  8,  4, 8, 4, 1, true, false> Sliced32x32;

/*   rest, wave, chunk, busy, sum, part, odd, megabyte */
static const Kernel kernels[] = {
    tiles<Large>({5.43, 7.04, 2.65, 0.411, 31.3, 0.193, 1.26, 0.28}),
    tiles<Flat64x128>({2.88, 5.28, 0.531, 0.391, 5.72, 0.379, 1.5, 0.14}),
    tiles<Sliced64x128>({3.25, 3.8, 1.49, 0.26, 3.66, 0.233, 1.26, 0.317}),
    tiles<Flat48x128>({2.34, 4.54, 0.445, 0.295, 6.4, 0.263, 1.49, 0.327}),
    tiles<Flat128x48>({3.07, 6.27, 0.846, 0.401, 5.08, 0.31, 1.47, 0.338}),
    tiles<Flat32x128>({3.07, 3.08, 0.442, 0.424, 3.97, 0.182, 1.57, 0.242}),
    tiles<Flat64x64>({2.53, 2.92, 0.239, 0.222, 4.57, 0.138, 1.51, 0.221}),
    tiles<Sliced64x64>({2.58, 2.92, 0.861, 0.0109, 3.02, 0.062, 1.97, 0.412}),
    tiles<Sliced64x48>({2.74, 5.19, 1.35, 0.198, 2.56, 0.0882, 1.04, 0.756}),
    tiles<Flat32x64>({3.02, 2.33, 0.307, 0.227, 3.44, 0.0924, 1.82, 0.287}),
    tiles<Sliced32x32>({4.07, 1.08, 0.473, 0.563, 1.52, 0.086, 2.35, 0.672}),
    small<32, 64>({3.06, 0.988, 3.06, 0.85, 2.97, 0.0817, 1.09, 0.373}),
    small<16, 32>({3.44, 0.597, 0.878, 0.233, 1.86, 0.137, 1.23, 0.436}),
    small<8, 64>({3.93, 0.36, 0.795, 0.234, 1.77, 0.0663, 0.947, 0.374}),
    columns<4, 8, 8, 2>({2.5, 1.98, 0.706, 0.543, 1.87, 0.0506, 1.02, 0.647}),
    columns<4, 2, 8, 2>({3.52, 0.519, 0.509, 0.48, 1.68, 0.05, 1.13, 0.587}),
    columns<4, 16, 256, 1>({2.49, 1.62, 1.09, 0.444, 2.97, 0.000115, 0.963, 1.73}),
    columns<2, 8, 256, 2>({3.18, 1.04, 0.527, 0.108, 2, 0.00577, 1.17, 0.831}),
    columns<4, 4, 256, 2>({3.53, 0.955, 0.543, 0.161, 3.18, 0.0177, 1.55, 0.561}),
    columns<1, 1, 32, 8>({3.85, 0.149, 0.494, 0.148, 1.93, 0.0509, 1.11, 0.377}),
    columns<4, 2, 256, 4>({3.93, 0.0145, 0.525, 0.206, 2.77, 0.089, 1.15, 0.481}),
    columns<4, 1, 256, 4>({4.4, 0.447, 0.55, 0.102, 1.77, 0.0893, 0.867, 0.367}),
    columns<1, 1, 256, 8>({3.33, 0.634, 0.532, 0.000302, 2.36, 0.0717, 1.09, 0.371}),
    rows<8, 4, 4, 4>({3.14, 1.37, 1.11, 0.911, 2.7, 0.0829, 0.98, 0.462}),
    rows<8, 8, 1, 8>({2.84, 1.2, 1.74, 0.631, 2.33, 0.032, 0.951, 0.569}),
    rows<1, 8, 4, 8>({3.73, 0.113, 3.8, 1.37, 2.33, 0.0353, 0.95, 0.367}),
    rows<4, 8, 1, 16>({3.11, 0.00112, 2.63, 0.00253, 2.95, 0.167, 0.998, 0.54}),
    rows<2, 8, 1, 16>({3.51, 0.001, 2.8, 1.02, 1.83, 0.0293, 0.95, 0.357}),
    rows<1, 8, 1, 16>({3.68, 0.00116, 2.23, 0.848, 2.27, 0.027, 0.928, 0.461}),
    outer<8, 256, 16>({4.46, 0.337, 0.0167, 0.514, 0.908, 0.202, 0.92, 0.304}),
    outer<2, 32, 64>({3.69, 0.66, 0.001, 0.000288, 0.561, 0.5, 0.95, 0.289}),
    outer<2, 32, 16>({3.93, 0.111, 0.147, 0.152, 0.0293, 0.184, 0.735, 0.318}),
    outer<4, 32, 16>({4.04, 0.00455, 0.00654, 0.262, 29.2, 0.0184, 0.952, 0.353}),
    outer<8, 32, 16>({4.5, 0.0132, 0.344, 0.366, 25.1, 0.0178, 1.09, 0.433}),
};

void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    /* No grid has more rows of blocks than 65,535. */
    for (int row = MOST_ROWS; row < m; row += MOST_ROWS)
        sgemm(min(MOST_ROWS, m - row), n, k, alpha, A + (size_t)row * k, B, beta,
              C + (size_t)row * n);
    m = min(m, MOST_ROWS);
    static const int shares[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128};
    const Problem p = {A, B, C, m, n, k, alpha, beta};
    int device = 0, processors = 0, shared_bytes = 0;
    Plan best = {};
    const Kernel *chosen = NULL;

    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    for (const Kernel &kernel : kernels)
        for (int share : shares) {
            if (!fits(kernel, p) || kernel.shared_bytes > shared_bytes ||
                (share == 0 && !kernel.streams) || (share > 1 && !kernel.splits))
                continue;
            const Plan made = plan(kernel, p, processors, share);
            if (made.cost < (chosen ? best.cost : INFINITY)) {
                best = made;
                chosen = &kernel;
            }
        }
    chosen->launch(p, best, processors);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
