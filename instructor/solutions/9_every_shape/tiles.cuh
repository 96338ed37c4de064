/* The kernel for tiles: the loop, then the sums of slices and of blocks, through shared memory,
 * so that C is written in whole lines whatever a thread has of it. Up to four rows and columns
 * that are left over are done by blocks of their own, so that they do not cost a row or a
 * column of tiles. */
#pragma once
#include "along_columns.cuh"
#include "along_k.cuh"
#include "tile_loop.cuh"

/* The slices' sums of a pass go to shared memory: so many neighboring rows of each warp's tile. */
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

template <class S, int V, int PASS>
__device__ Piece<V> sum_slices(const float *sums, int e)
{
    Piece<V> v = ((const Piece<V> *)sums)[e];
#pragma unroll
    for (int s = 1; s < S::SLICES; ++s)
        v.add(((const Piece<V> *)sums)[s * PASS + e]);
    return v;
}

/* Adds them up and stores them, where no block shares the tile, and all that a thread has of it is
 * in one column. Not where the shape streams: nvcc then gives the loop other registers, and has
 * fewer of its operands at hand. */
template <class S, int V>
__device__ void store_columns(const Problem &p, const float *sums, int pass, const Target &to)
{
    constexpr int ROW = S::BN / V, ROWS = S::BM / S::PASSES, WARP = S::WM / S::PASSES;
    const int x = threadIdx.x % ROW, col = to.col + x * V;
    const int first = to.own_row - to.row, end = p.m - to.row;
    float *const at = p.C + (size_t)to.row * p.n + col;

    if (col < to.own_col || col >= to.end_col)
        return;
#pragma unroll 4
    for (int r = threadIdx.x / ROW; r < ROWS; r += S::BLOCK / ROW) {
        const int row = S::PASSES == 1 ? r : r / WARP * S::WM + pass * WARP + r % WARP;
        if (row >= first && row < end)
            store<V>(p, at + (size_t)row * p.n, sum_slices<S, V, ROWS * ROW>(sums, r * ROW + x));
    }
}

/* Adds them up, with those of other blocks if they share the tile, and stores what is the tile's
 * own. */
template <class S, bool WIDE>
__device__ void store_tile(const Problem &p, float *sums, const float (&sum)[S::TM][S::TN],
                           const Task &task, const Place<S> &me)
{
    constexpr int V = WIDE ? 4 : 1, ROW = S::BN / V, COUNT = S::BM * ROW, PASS = COUNT / S::PASSES;
    constexpr int WARP = S::WM / S::PASSES;
    Piece<V> *const parts = (Piece<V> *)parts_memory;
    const Target to = {task.row, task.col, ROW, task.own_row, task.own_col, p.n};
    const int tile = blockIdx.y * gridDim.x + blockIdx.x;
    const Part mine = {task.part, task.share, S::STREAMS ? 2 * ((int)blockIdx.x - task.part)
                                                         : tile * task.share,
                       S::STREAMS ? 2 : 1, 0};
    const int share = task.share;
#pragma unroll
    for (int pass = 0; pass < S::PASSES; ++pass) {
        __syncthreads(); /* all have read what was there */
        put_sums<S>(sums, sum, p.alpha, pass, me);
        __syncthreads();
        if (!S::STREAMS && S::BLOCK % ROW == 0 && share == 1) {
            store_columns<S, V>(p, sums, pass, to);
            continue;
        }
#pragma unroll 4
        for (int e = threadIdx.x; e < PASS; e += S::BLOCK) {
            const int r = e / ROW, row = r / WARP * S::WM + pass * WARP + r % WARP;
            const Piece<V> v = sum_slices<S, V, PASS>(sums, e);
            if (share == 1)
                put(p, to, row * ROW + e % ROW, v);
            else if (S::STREAMS || to.row + row < p.m)
                parts[(size_t)mine.slot(task.part) * COUNT + row * ROW + e % ROW] = v;
        }
    }
    static_assert(!S::STREAMS || COUNT * V % (IN_TURN * S::BLOCK) == 0, "whole rounds");
    if (share > 1 && S::STREAMS && !WIDE)
        add_in_turn<V>(p, to, mine, COUNT, S::BLOCK);
    else if (share > 1)
        add_parts<V>(p, to, mine, COUNT, S::BLOCK);
}

/* What is beyond (row, col), done by so many blocks of so many threads, each `share` times, with
 * `depth` values of k. Their parts are behind those of the tiles, MOST_OF_RIM floats each. */
struct Rim {
    int row, col, blocks, share, depth, threads, first_slot, first_float;
};

/* The last columns of C, RIM of them at most: a warp does 8 rows, its lanes share k. */
__device__ void compute_rim_columns(const Problem &p, int row0, int col, int begin, int end,
                                    const Part &mine, float *sums, int threads)
{
    float sum[8 * RIM] = {};
    dot<8, RIM, 4, false>(sum, p, row0 + threadIdx.x / 32 * 8, col, begin + threadIdx.x % 32, end,
                          32);
    const int e = reduce_lanes<8 * RIM, 32>(sum);
    sums[threadIdx.x / 32 * (8 * RIM) + e] = sum[0];
    finish<false>(p, sums, threads, 1, threads, mine, {row0, col, RIM, 0, 0, p.n});
}

/* What whole tiles leave over: first the columns, then the rows. As many blocks share k as do in a
 * tile, so that they are done in the time that a tile takes. */
__device__ void compute_rim(const Problem &p, const Rim &rim, int block, float *shared)
{
    const int of_columns = p.n > rim.col ? (p.m - 1) / (rim.threads / 4) + 1 : 0;
    const int number = block % rim.blocks, part = block / rim.blocks;
    const bool columns = number < of_columns;
    const int begin = part * rim.depth, end = min(p.k, begin + rim.depth);
    const int first = rim.first_slot + number * rim.share, count = columns ? rim.threads : 32 * RIM;
    const int from = rim.first_float + number * rim.share * MOST_OF_RIM;
    const Part mine = {part, rim.share, first, 1, rim.share == 1 ? 0 : from - first * count};
    if (columns)
        compute_rim_columns(p, number * (rim.threads / 4), rim.col, begin, end, mine, shared,
                            rim.threads);
    else
        compute_rows<RIM, 1, 16, false>(p, rim.row, (number - of_columns) * 32, min(p.n, rim.col),
                                        begin, end, mine, shared, 32, rim.threads);
}

/* Not inlined, for the loop over most tiles has no registers to spare for this. Where they stream
 * it has: there the call itself would cost the loop 2 % of the operands that it has at hand. */
__attribute__((noinline)) __device__ void call_rim(const Problem p, const Rim rim, int block,
                                                   float *shared)
{
    compute_rim(p, rim, block, shared);
}

template <class S, bool WIDE>
__global__ void __launch_bounds__(S::BLOCK, S::RESIDENT) mysgemm(const Problem p, const Grid g)
{
    extern __shared__ float4 shared_memory[];
    __shared__ Task task; /* in shared memory, because the loop needs all registers */
    float *const shared = (float *)shared_memory;

    if (S::RIMS && (S::STREAMS ? (int)blockIdx.x >= g.workers : (int)blockIdx.z >= g.share)) {
        const int tiles = g.tiles_m * g.tiles_n, slots = tiles * g.share;
        const int in_plane = blockIdx.y * gridDim.x + blockIdx.x;
        const int block = S::STREAMS ? blockIdx.x - g.workers
                                     : (blockIdx.z - g.share) * tiles + in_plane;
        static_assert(Rows<RIM, 1>::FLOATS <= S::SHARED_FLOATS && 8 * RIM == 32 &&
                          S::BLOCK <= MOST_OF_RIM, "room for sums");
        const Rim rim = {g.tiles_m * S::BM, g.tiles_n * S::BN, g.rim, g.share,
                         g.chunks * S::STEP, S::BLOCK, slots,
                         g.share == 1 ? 0 : slots * (S::BM * S::BN)};
        if (block >= g.rim * g.share)
            return;
        if (S::STREAMS)
            compute_rim(p, rim, block, shared);
        else
            call_rim(p, rim, block, shared);
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

template <class S, bool WIDE>
static void launch_tiles(const Kernel &, const Problem &p, const Plan &plan)
{
    const int tiles = plan.tiles_m * plan.tiles_n;
    Grid g = {plan.tiles_m, plan.tiles_n, ceiling(p.k, S::STEP), plan.chunks, max(plan.share, 1),
              plan.rim, 0, 0, 0, 0};
    dim3 grid(plan.tiles_n, plan.tiles_m, g.share + ceiling(plan.rim * g.share, tiles));
    if (S::STREAMS) {
        g.workers = plan.share == 0 ? plan.processors : tiles;
        g.whole = tiles / g.workers;
        const int steps = (tiles - g.whole * g.workers) * g.steps_of_tile;
        g.steps = steps / g.workers;
        g.longer = steps % g.workers;
        grid = dim3(g.workers + plan.rim);
    }
    auto kernel = mysgemm<S, WIDE>;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, S::SHARED_BYTES);
    kernel<<<grid, S::BLOCK, S::SHARED_BYTES>>>(p, g);
}

template <class S, bool WIDE>
static Kernel tiles(const Cost &cost)
{
    Kernel kernel = {S::BM, S::BN, S::STEP, ANY, ANY, ANY, launch_tiles<S, WIDE>, cost, WIDE};
    kernel.splits = !S::STREAMS;
    kernel.streams = S::STREAMS;
    kernel.whole = !S::CLAMPS;
    kernel.rims = S::RIMS;
    kernel.resident = S::RESIDENT;
    kernel.threads = S::BLOCK;
    kernel.shared_bytes = S::SHARED_BYTES;
    return kernel;
}
