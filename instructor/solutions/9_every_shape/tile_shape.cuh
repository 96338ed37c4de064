/* Tiles: what a block, a warp and a thread compute of C, and in which order blocks do their tiles.
 *
 * Where C has too few tiles to fill the GPU, its warps share k: the SLICES of a block each take
 * their part of every step. Blocks share k as well (sharing.cuh), each the same number of steps;
 * or the shape streams: each block does as many whole tiles as all others, and of the steps of the
 * tiles that are left, as many as all others. */
#pragma once
#include "problem.cuh"

#define GROUP 8             /* rows of tiles that are done together, for the L2 cache */
#define GROUPED (128 * 256) /* only tiles of so many elements: others are for a small C */

/* A block computes BM x BN elements of C, BK values of k at a time in each of its SLICES; a warp
 * WM x WN, a thread TM x TN of them. STAGES steps are in shared memory or on their way there;
 * RESIDENT blocks fit on a multiprocessor. */
template <int BM_, int BN_, int BK_, int WM_, int WN_, int TM_, int TN_, int SLICES_, int STAGES_,
          int RESIDENT_, bool CLAMPS_, bool RIMS_, bool STREAMS_>
struct Shape {
    static constexpr int BM = BM_, BN = BN_, BK = BK_, WM = WM_, WN = WN_, TM = TM_, TN = TN_;
    static constexpr int SLICES = SLICES_, STAGES = STAGES_, RESIDENT = RESIDENT_;
    static constexpr bool CLAMPS = CLAMPS_;   /* tiles may be larger than C */
    static constexpr bool RIMS = RIMS_;       /* what is left over may go to blocks of its own */
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

/* How the work is shared out: each tile to so many blocks, `chunks` steps each; or, where the shape
 * streams, `whole` tiles to each of so many workers, and then the steps of all other tiles evenly,
 * the first `longer` workers doing one more. So many blocks for the rim, each `share` times. */
struct Grid {
    int tiles_m, tiles_n, steps_of_tile, chunks, share, rim;
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

/* The next one of a block that streams. Returns its tile. */
__device__ int find_steps(Task &task, const Grid &g)
{
    const int tile = task.done * g.workers + blockIdx.x;
    task.begin = 0;
    task.end = g.steps_of_tile;
    task.part = 0;
    task.share = 1;
    if (task.done < g.whole) {
        ++task.done;
        return tile;
    }
    const int first = first_step(g, blockIdx.x) + task.done - g.whole;
    const int left = first_step(g, blockIdx.x + 1) - first, shared = first / g.steps_of_tile;
    task.begin = first - shared * g.steps_of_tile;
    task.end = min(g.steps_of_tile, task.begin + left);
    task.done += task.end - task.begin;
    const int first_worker = worker_of(g, shared * g.steps_of_tile);
    task.part = blockIdx.x - first_worker;
    task.share = worker_of(g, (shared + 1) * g.steps_of_tile - 1) - first_worker + 1;
    return g.whole * g.workers + shared;
}

/* Tiles that run at the same time are near one another in both directions. */
template <class S>
__device__ void set_place_in_group(Task &task, const Problem &p, const Grid &g, int tile)
{
    const int of_group = GROUP * g.tiles_n, group = tile / of_group, in_group = tile % of_group;
    const int rows = min(GROUP, g.tiles_m - group * GROUP);
    set_place<S>(task, p, group * GROUP + in_group % rows, in_group / rows);
}

template <class S>
__device__ void find_task(Task &task, const Problem &p, const Grid &g)
{
    if (S::STREAMS) {
        set_place_in_group<S>(task, p, g, find_steps(task, g));
        return;
    }
    task.begin = blockIdx.z * g.chunks;
    task.end = min(g.steps_of_tile, task.begin + g.chunks);
    task.part = blockIdx.z;
    task.share = g.share;
    if (S::BM * S::BN >= GROUPED)
        set_place_in_group<S>(task, p, g, blockIdx.y * gridDim.x + blockIdx.x);
    else
        set_place<S>(task, p, blockIdx.y, blockIdx.x);
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
