/* Even shares: all multiprocessors have work until the end.
 *
 * 7_warp_tiles.cu gives each block a tile. 4096 x 4096 elements are 512 tiles: 132 multiprocessors
 * do three each, then 116 of them a fourth one, while 16 have nothing to do. Here (stream-k) the
 * steps over k of all tiles are in one row, and each block does as many as all others, one block a
 * multiprocessor. Blocks that share a tile put their sums down in global memory, and the last to
 * come adds them up. Sums never lie in vectors: a float4 of sums has to lie in registers of the
 * same banks as the float4 of B that it is multiplied with, and then four FFMA in ten wait.
 *
 * 128 * 256 / (2 * (128 + 256)) = 43 operations for each byte of global memory. What limits it: the
 * issue of instructions, of which nine in ten are FFMA; and where C is small, that a step of such a
 * tile takes as long as ever, however many blocks share it.
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
#define STAGE_FLOATS (BK * (A_ROW + BN))

/* Sums of parts of tiles, two tiles a block at most; and how many of a tile have come. Launches
 * that overlap, on streams of their own, would spoil each other's. */
#define MOST_WORKERS 160
__device__ float parts[MOST_WORKERS * 2 * BM * BN];
__device__ unsigned parts_done[MOST_WORKERS];

/* The steps of all tiles, shared out over so many workers: the first `longer` do one step more. */
struct Shares {
    int tiles_m, tiles_n, steps_of_tile, workers, steps, longer;

    __device__ int first_of(int worker) const { return worker * steps + min(worker, longer); }
    __device__ int worker_of(int step) const
    {
        const int rest = step - longer * (steps + 1);
        return rest < 0 ? step / (steps + 1) : longer + rest / steps;
    }
};

/* What a block does next; in shared memory, because the loop needs all registers. */
struct Task {
    int first;                       /* of all steps of the grid; -1: there is no other task */
    int begin, end, row, col;        /* steps of the tile, and where it is */
    int first_worker, workers, last; /* that share it; the last one to come adds up */
};

/* The task that begins with task.first. For the L2 cache, 8 rows of tiles are done together. */
__device__ void find_task(Task &task, const Shares &shares)
{
    const int first = task.first, last = shares.first_of(blockIdx.x + 1);
    const int steps = shares.steps_of_tile, tile = first / steps;
    task.begin = first - tile * steps;
    task.end = min(steps, task.begin + last - first);
    task.first = first + task.end - task.begin;
    if (task.first == last)
        task.first = -1;
    task.first_worker = shares.worker_of(tile * steps);
    task.workers = shares.worker_of((tile + 1) * steps - 1) - task.first_worker + 1;
    const int of_group = 8 * shares.tiles_n, group = tile / of_group, in_group = tile % of_group;
    const int rows = min(8, shares.tiles_m - group * 8);
    task.row = (group * 8 + in_group % rows) * BM;
    task.col = in_group / rows * BN;
}

/* A thread's copies from global memory into a stage of shared memory: 8 columns of A side by side,
 * transposed, or a piece of a row of B. WIDE: B and C can be read 16 bytes at a time. */
template <bool WIDE>
struct Loader {
    static constexpr int A_ROWS = THREADS / 8, A_PASSES = BM / A_ROWS, A_COPIES = A_PASSES * 2;
    static constexpr int PIECE = WIDE ? 4 : 1, B_COLS = BN / PIECE / 32, B_ROWS = THREADS / 32;
    static constexpr int COPIES = A_COPIES + BK / B_ROWS * B_COLS, LOT = (COPIES + 3) / 4;

    const float *A, *B;
    int n, k, a_at[A_PASSES], b_at[B_COLS]; /* rows and columns, none beyond the last one */
    const float *a_from, *b_from;           /* of the step to load next */

    __device__ void go_to(int row, int col, int m)
    {
#pragma unroll
        for (int i = 0; i < A_PASSES; ++i)
            a_at[i] = min((int)threadIdx.x / 8 + i * A_ROWS, m - 1 - row) * k;
#pragma unroll
        for (int i = 0; i < B_COLS; ++i)
            b_at[i] = min(((int)threadIdx.x % 32 + i * 32) * PIECE, n - PIECE - col);
        a_from = A + (size_t)row * k + threadIdx.x % 8;
        b_from = B + (size_t)(threadIdx.x / 32) * n + col;
    }

    __device__ void advance(int by) { a_from += by, b_from += (long long)by * n; }

    /* Copies FROM to TO of a step, of which only the first `left` values of k are there. */
    __device__ void copy(float *stage, int from, int to, int left) const
    {
        const int x = threadIdx.x % 8, y = threadIdx.x / 8, lane = threadIdx.x % 32;
        const int warp = threadIdx.x / 32;
#pragma unroll
        for (int i = from; i < to && i < COPIES; ++i)
            if (i < A_COPIES) {
                const int col = i % 2 * 8, pass = i / 2;
                const bool there = left == BK || col + x < left;
                __pipeline_memcpy_async(stage + (col + x) * A_ROW + y + pass * A_ROWS,
                                        there ? a_from + a_at[pass] + col : A, 4, there ? 0 : 4);
            } else {
                const int down = (i - A_COPIES) / B_COLS * B_ROWS, piece = (i - A_COPIES) % B_COLS;
                const bool there = left == BK || down + warp < left;
                __pipeline_memcpy_async(
                    stage + BK * A_ROW + (down + warp) * BN + (lane + piece * 32) * PIECE,
                    there ? b_from + (long long)down * n + b_at[piece] : B, 4 * PIECE,
                    there ? 0 : 4 * PIECE);
            }
    }

    /* Fills all stages but one: the task's first steps. `ragged` values of k are in step 0. */
    __device__ void fill(float *stages, int begin, int end, int ragged)
    {
        if (begin > 0)
            advance(ragged + (begin - 1) * BK);
#pragma unroll
        for (int i = 0; i < STAGES - 1; ++i) {
            const int here = begin + i == 0 ? ragged : BK;
            if (begin + i < end) {
                copy(stages + i * STAGE_FLOATS, 0, COPIES, here);
                advance(here);
            }
            __pipeline_commit();
        }
    }
};

/* A thread's values of A and B for one k, from shared memory into registers. */
__device__ void load_fragments(float (&a)[TM], float (&b)[TN], const float *stage, int kk, int a_at,
                               int b_at)
{
#pragma unroll
    for (int i = 0; i < TM; i += 4)
        *(float4 *)&a[i] = *(const float4 *)(stage + kk * A_ROW + a_at + i * LANES_M);
#pragma unroll
    for (int j = 0; j < TN; j += 4)
        *(float4 *)&b[j] = *(const float4 *)(stage + BK * A_ROW + kk * BN + b_at + j * LANES_N);
}

/* The products of so many steps, the first of which are on their way to shared memory. */
template <bool WIDE>
__device__ void compute(float (&sum)[TM][TN], Loader<WIDE> &loader, float *stages, int steps,
                        int a_at, int b_at)
{
    float a[2][TM], b[2][TN];
    int reading = 0, writing = (STAGES - 1) * STAGE_FLOATS;
    __pipeline_wait_prior(STAGES - 2);
    __syncthreads(); /* the first step's tiles are there */
    load_fragments(a[0], b[0], stages, 0, a_at, b_at);
    for (int left = steps; left > 0; --left) {
#pragma unroll
        for (int kk = 0; kk < BK; ++kk) {
            if (kk == BK - 1) {
                __pipeline_wait_prior(STAGES - 2);
                __syncthreads(); /* the next step's tiles are there, this step's are read */
                writing = reading;
                if (left > 1)
                    reading = reading == (STAGES - 1) * STAGE_FLOATS ? 0 : reading + STAGE_FLOATS;
            }
            load_fragments(a[(kk + 1) % 2], b[(kk + 1) % 2], stages + reading, (kk + 1) % BK, a_at,
                           b_at);
            if (left >= STAGES && kk % 3 == 0 && kk < 12)
                loader.copy(stages + writing, kk / 3 * loader.LOT, (kk / 3 + 1) * loader.LOT, BK);
            if (kk == BK - 2) {
                __pipeline_commit();
                loader.advance(BK);
            }
#pragma unroll
            for (int e = 0; e < TM * TN; ++e) { /* there and back, so that b[j] is at hand */
                const int i = e / TN, j = i % 2 ? TN - 1 - e % TN : e % TN;
                sum[i][j] += a[kk % 2][i] * b[kk % 2][j];
            }
        }
    }
    __pipeline_wait_prior(0);
}

/* All blocks that share a tile put their sums down; true in the last one to come, which adds them
 * up in the order of k, so that the sum is the same each time. */
__device__ bool reduce_workers(float (&sum)[TM][TN], Task &task)
{
    const int first = task.first_worker, me = blockIdx.x;
    auto place = [=](int worker) {
        return parts + (size_t)(2 * worker + (worker == first)) * (BM * BN) + threadIdx.x;
    };
#pragma unroll
    for (int i = 0; i < TM * TN; ++i)
        __stcg(place(me) + i * THREADS, sum[i / TN][i % TN]);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        task.last = atomicAdd(&parts_done[first], 1) == task.workers - 1;
        if (task.last)
            parts_done[first] = 0; /* for the next launch */
    }
    __syncthreads();
    if (!task.last)
        return false;
    __threadfence();
#pragma unroll 1
    for (int worker = first; worker < first + task.workers; ++worker)
#pragma unroll
        for (int i = 0; i < TM * TN; ++i)
            sum[i / TN][i % TN] = __ldcg(place(worker) + i * THREADS) +
                                  (worker == first ? 0.0f : sum[i / TN][i % TN]);
    return true;
}

/* Four neighbors of a row of C. */
template <bool WIDE>
__device__ void store_four(float *to, const float *sum, float alpha, float beta, int count)
{
    auto of = [=](int e) { return alpha * sum[e] + (beta == 0.0f ? 0.0f : beta * to[e]); };
    if (WIDE)
        *(float4 *)to = make_float4(of(0), of(1), of(2), of(3));
    else
#pragma unroll
        for (int e = 0; e < 4; ++e)
            if (e < count)
                to[e] = of(e);
}

template <bool WIDE>
__global__ void __launch_bounds__(THREADS, 1)
mysgemm(int m, int n, int k, float alpha, const float *__restrict__ A, const float *__restrict__ B,
        float beta, float *__restrict__ C, Shares shares)
{
    extern __shared__ float4 shared[];
    __shared__ Task task;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int a_at = warp / (BN / WARP_TILE) * WARP_TILE + lane / LANES_N * 4;
    const int b_at = warp % (BN / WARP_TILE) * WARP_TILE + lane % LANES_N * 4;
    const int ragged = k - (shares.steps_of_tile - 1) * BK; /* of k, in step 0: 1 to BK */
    Loader<WIDE> loader = {A, B, n, k};

    if (threadIdx.x == 0)
        task.first = shares.first_of(blockIdx.x);
    do {
        __syncthreads(); /* the last task is done with shared memory */
        if (threadIdx.x == 0)
            find_task(task, shares);
        __syncthreads();
        const int begin = task.begin, end = task.end;
        float sum[TM][TN] = {};
        loader.go_to(task.row, task.col, m);
        loader.fill((float *)shared, begin, end, ragged);
        compute<WIDE>(sum, loader, (float *)shared, end - begin, a_at, b_at);
        if (task.workers > 1 && !reduce_workers(sum, task))
            continue;
#pragma unroll
        for (int e = 0; e < TM * TN; e += 4) {
            const int i = e / TN, row = task.row + a_at + i / 4 * (4 * LANES_M) + i % 4;
            const int j = e % TN, col = task.col + b_at + j * LANES_N;
            if (row < m && col < n)
                store_four<WIDE>(C + (size_t)row * n + col, &sum[i][j], alpha, beta, n - col);
        }
    } while (task.first >= 0);
}

static int ceiling(int a, int b) { return a / b + (a % b > 0); }

void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    const int bytes = STAGES * STAGE_FLOATS * (int)sizeof(float);
    const bool wide = n % 4 == 0 && ((uintptr_t)B | (uintptr_t)C) % 16 == 0;
    auto kernel = wide ? mysgemm<true> : mysgemm<false>;
    int device = 0, processors = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    processors = min(processors, MOST_WORKERS);

    /* In steps: a tile takes three besides its own, sharing eight. */
    Shares shares = {ceiling(m, BM), ceiling(n, BN), ceiling(k, BK), 0, 0, 0};
    const int tiles = shares.tiles_m * shares.tiles_n, steps = tiles * shares.steps_of_tile;
    const double alone = ceiling(tiles, processors) * (shares.steps_of_tile + 3.0);
    shares.workers = steps >= processors && steps / processors + 8 < alone ? processors : tiles;
    shares.steps = steps / shares.workers;
    shares.longer = steps % shares.workers;

    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    kernel<<<shares.workers, THREADS, bytes>>>(m, n, k, alpha, A, B, beta, C, shares);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
