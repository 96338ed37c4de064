/* A row times a matrix, by blocks that share k. A block has a strip of B's columns, as in row.cuh,
 * but as many lanes as the strips are even with: 25 where n is 100. Its lanes' rows are `slots`
 * apart, and the blocks of a strip take turns along k, so that all of them together read B from
 * front to back.
 *
 * Each block adds its sums to C, and is done: it does not wait for an answer. So C must have its
 * first value before that, 0 or what it had times beta, and a warp of its own sees to it while the
 * others' loads are on their way. It waits for no load, so its fence does not either. In the first
 * block of the strip to begin, it stores those values and then lets as many blocks add as there
 * are; in each block, it waits until blocks may, and takes itself off their number, which is zero
 * again when all have begun. The sums come in any order, so the last bits of C may differ from one
 * launch to the next. */
#pragma once
#include "row.cuh"

#define KEEPER 32    /* threads of the warp that waits until the block may add */
#define ROW_BLOCKS 2 /* a multiprocessor */

/* How strips are shared out: lanes, the columns that are a strip's own, the rows that a block has
 * at once, the threads that share a column's sums; and what tells a thread its place, for a number
 * below 1024 divided by one up to 256 is its product with such an inverse, shifted. */
#define SHIFT 20
struct Strips {
    int lanes, own, slots, parts, of_lanes, of_own;
};

/* By one warp. The counters are parts_done's: of blocks that have begun and that may add. */
__device__ void prepare_strip(const Problem &p, int col0, int end)
{
    unsigned *const begun = &parts_done[0][blockIdx.x], *const may_add = &parts_done[1][blockIdx.x];
    const int lane = threadIdx.x % KEEPER;
    unsigned before = 1;

    if (lane == 0) /* zero again when all have begun */
        before = atomicInc(begun, gridDim.z - 1);
    if (__shfl_sync(0xffffffff, before, 0) == 0) {
        for (int col = col0 + lane; col < end; col += KEEPER)
            p.C[col] = p.beta == 0.0f ? 0.0f : p.beta * p.C[col];
        __syncwarp();
        if (lane == 0) {
            __threadfence();
            atomicAdd(may_add, gridDim.z);
        }
    }
    if (lane == 0) {
        while (*(volatile unsigned *)may_add == 0)
            __nanosleep(20);
        atomicSub(may_add, 1);
        __threadfence();
    }
}

/* The block's sum for column threadIdx.x of the strip, of all slots' sums: first by `parts` threads
 * a column. */
template <int BLOCK>
__device__ float add_up_slots(const Problem &p, const Strips &s, const float *sums)
{
    __shared__ float of_parts[BLOCK];
    const int part = threadIdx.x * s.of_own >> SHIFT, e = threadIdx.x - part * s.own;
    float sum = 0;

    if (part < s.parts)
#pragma unroll 4
        for (int slot = part; slot < s.slots; slot += s.parts)
            sum += sums[slot * 4 * s.lanes + e + ((slot * p.n) & 3)];
    if (s.parts == 1)
        return sum;
    if (part < s.parts)
        of_parts[threadIdx.x] = sum;
    __syncthreads();
    sum = 0;
    if ((int)threadIdx.x < s.own)
#pragma unroll 4
        for (int i = 0; i < s.parts; ++i)
            sum += of_parts[i * s.own + threadIdx.x];
    return sum;
}

template <int BLOCK, int AHEAD>
__global__ void __launch_bounds__(BLOCK + KEEPER, ROW_BLOCKS)
    mysgemm_shared_row(const Problem p, const Strips s)
{
    __shared__ Piece<4> sums[BLOCK];
    const int col0 = blockIdx.x * s.own, end = min(p.n, col0 + s.own), col = col0 + threadIdx.x;

    if (threadIdx.x >= BLOCK) {
        if (gridDim.z > 1)
            prepare_strip(p, col0, end);
    } else {
        const int slot = threadIdx.x * s.of_lanes >> SHIFT, x = threadIdx.x - slot * s.lanes;
        const int of_turn = AHEAD * s.slots, shift = (slot * p.n) & 3;
        const int first = slot < s.slots ? blockIdx.z * of_turn + slot : p.k;
        sums[threadIdx.x] =
            add_up_rows<AHEAD>(p, col0 + 4 * x - shift, first, s.slots, gridDim.z * of_turn);
    }
    __syncthreads();
    const float sum = p.alpha * add_up_slots<BLOCK>(p, s, (const float *)sums);
    if (col >= end)
        return;
    if (gridDim.z > 1)
        atomicAdd(p.C + col, sum);
    else
        store<1>(p, 0, col, {sum});
}

/* Strips of at most 4 * LANES columns, as even as can be. Slots in fours, where n is no multiple of
 * 4: all of a thread's rows begin at the same place of a vector. */
template <int LANES, int BLOCK, int AHEAD>
static void launch_shared_row(const Kernel &, const Problem &p, const Plan &plan)
{
    const int beyond = p.n % 4 == 0 ? 0 : 4, strips = ceiling(p.n, 4 * LANES - beyond);
    Strips s = {};
    s.own = 4 * ceiling(ceiling(p.n, strips), 4);
    s.lanes = (s.own + beyond) / 4;
    s.slots = beyond == 0 ? BLOCK / s.lanes : BLOCK / s.lanes / 4 * 4;
    s.parts = min(BLOCK / s.own, s.slots);
    s.of_lanes = ceiling(1 << SHIFT, s.lanes);
    s.of_own = ceiling(1 << SHIFT, s.own);
    const dim3 grid(strips, 1, plan.share);
    mysgemm_shared_row<BLOCK, AHEAD><<<grid, BLOCK + KEEPER>>>(p, s);
}

template <int LANES, int BLOCK, int AHEAD>
static Kernel shared_row(const Cost &cost)
{
    static_assert(BLOCK / LANES >= 4 && BLOCK >= 4 * LANES, "rows of all kinds, all columns");
    const int depth = BLOCK / LANES * AHEAD;
    auto launch = launch_shared_row<LANES, BLOCK, AHEAD>;
    Kernel kernel = {1, 4 * LANES, depth, 1, ANY, ANY, launch, cost};
    kernel.aligned = true;
    kernel.resident = ROW_BLOCKS;
    kernel.threads = BLOCK + KEEPER;
    kernel.room = INFINITY;
    return kernel;
}
