/* Blocks that share k: each puts its sums down in global memory, and the last one to come adds
 * them up, all in one launch. A product with a C of few tiles and a long k fills the GPU only
 * so. What it costs is some three microseconds, the time of two answers of memory and of a
 * counter, so it is nothing for products that take no longer than a launch.
 *
 * The sums are added up in the same order whoever comes last, so the result is the same each time:
 * 16 blocks' sums at a time, and then those of 16 times 16; more at a time, if they are few. */
#pragma once
#include "problem.cuh"

#define IN_TURN 64 /* sums of each part that one thread adds up at once, where parts come in turn */
#define FAN 16 /* most sums of blocks that one thread adds up: it waits for all of them at once */

/* Sums of blocks that share a tile, and how many have come. All launches use the same: two that
 * overlap, on streams of their own, would spoil each other's. */
#define PARTS_FLOATS (160 * 2 * 128 * 256)
#define MOST_PARTS 65536
__device__ float4 parts_memory[PARTS_FLOATS / 4];
__device__ unsigned parts_done[2][MOST_PARTS]; /* FAN * FAN blocks at most share a tile */

/* Where in C a block's elements are, row by row: element 0, how many of them a row has, and those
 * that are the block's own: from one row and column on, up to the end of C or to end_col. */
struct Target {
    int row, col, pieces, own_row, own_col, end_col;
};

/* Part number `part` of `share` parts of a tile, whose slots are `step` apart, in parts_memory from
 * float `begin` on. A block that streams (step is 2) can have two: the end of a tile, and the
 * beginning of another. */
struct Part {
    int part, share, first, step, begin;

    __device__ int slot(int i) const { return first + i * step + (step == 2 && i == 0); }

    template <int V>
    __device__ Piece<V> *piece(int i, int count, int e) const
    {
        return (Piece<V> *)((float *)parts_memory + begin) + (size_t)slot(i) * count + e;
    }
};

/* Element e of a block, V columns wide. */
template <int V>
__device__ void put(const Problem &p, const Target &to, int e, Piece<V> v)
{
    const int row = to.row + e / to.pieces, col = to.col + e % to.pieces * V;
    if (row >= to.own_row && row < p.m && col >= to.own_col && col < to.end_col)
        store<V>(p, row, col, v);
}

/* True in the last of so many blocks that come here with the same counter. One thread's fences are
 * the whole block's, between barriers. */
__device__ bool is_last(unsigned *counter, int blocks)
{
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(counter, 1) == (unsigned)blocks - 1;
        if (last)
            *counter = 0; /* for the next launch */
        __threadfence();
    }
    __syncthreads();
    return last;
}

/* Element e of so many parts from `first` on, FAN at most, added up in their order. */
template <int V>
__device__ Piece<V> sum_parts(const Part &mine, int count, int e, int first, int members, int apart)
{
    Piece<V> part[FAN], sum = {};
#pragma unroll
    for (int i = 0; i < FAN; ++i)
        part[i] = i < members ? *mine.piece<V>((first + i) * apart, count, e) : Piece<V>{};
#pragma unroll
    for (int i = 0; i < FAN; ++i)
        sum.add(part[i]);
    return sum;
}

/* A part of `count` pieces has been put down; the last block of each FAN adds them up, and the last
 * of those again, always in the same order. The last of all writes C. */
template <int V>
__device__ void add_parts(const Problem &p, const Target &to, const Part &mine, int count,
                          int threads)
{
    constexpr int AT_ONCE = 4 / V; /* pieces a thread waits for */
    const int used = min(count, (p.m - to.row) * to.pieces);
    int part = mine.part, share = mine.share;

    for (int level = 0, apart = 1;; ++level, apart *= FAN) {
        const int first = part / FAN * FAN, members = min(FAN, share - first);
        if (!is_last(&parts_done[level][mine.slot(first * apart)], members))
            return;
        for (int e0 = threadIdx.x; e0 < used; e0 += AT_ONCE * threads) {
            Piece<V> v[AT_ONCE];
#pragma unroll
            for (int u = 0; u < AT_ONCE; ++u)
                v[u] = sum_parts<V>(mine, count, min(e0 + u * threads, used - 1), first, members,
                                    apart);
#pragma unroll
            for (int u = 0; u < AT_ONCE; ++u)
                if (e0 + u * threads >= used)
                    break;
                else if (share <= FAN)
                    put(p, to, e0 + u * threads, v[u]);
                else
                    *mine.piece<V>(first * apart, count, e0 + u * threads) = v[u];
        }
        if (share <= FAN)
            return;
        part /= FAN;
        share = (share + FAN - 1) / FAN;
    }
}

/* The same for few parts of a large tile that is all inside C, of whole rounds: part by part, so
 * many pieces of each at once that a thread waits for memory no more than a dozen times. */
template <int V>
__device__ void add_in_turn(const Problem &p, const Target &to, const Part &mine, int count,
                            int threads)
{
    constexpr int AT_ONCE = IN_TURN / V;

    if (!is_last(&parts_done[0][mine.slot(0)], mine.share))
        return;
    for (int e0 = threadIdx.x; e0 < count; e0 += AT_ONCE * threads) {
        Piece<V> sum[AT_ONCE] = {};
#pragma unroll 1
        for (int i = 0; i < mine.share; ++i) {
            const Piece<V> *const from = mine.piece<V>(i, count, e0);
#pragma unroll
            for (int u = 0; u < AT_ONCE; ++u)
                sum[u].add(from[u * threads]);
        }
#pragma unroll
        for (int u = 0; u < AT_ONCE; ++u)
            if (e0 + u * threads < count) /* always; nvcc's loop over k is faster with it */
                put(p, to, e0 + u * threads, sum[u]);
    }
}

/* The same for few elements: groups of threads share the parts of each, FAN to a group, so that one
 * round will do. */
__device__ void add_few(const Problem &p, const Target &to, const Part &mine, int count,
                        int threads)
{
    __shared__ float sums[MOST_THREADS];
    const int groups = threads / count, fan = FAN * groups;
    const int e = threadIdx.x % count, group = threadIdx.x / count;
    int part = mine.part, share = mine.share;

    for (int level = 0, apart = 1;; ++level, apart *= fan) {
        const int first = part / fan * fan, members = min(fan, share - first);
        if (!is_last(&parts_done[level][mine.slot(first * apart)], members))
            return;
        if (group < groups)
            sums[threadIdx.x] =
                sum_parts<1>(mine, count, e, first + group * FAN, members - group * FAN, apart)
                    .of[0];
        __syncthreads();
        if ((int)threadIdx.x < count) {
            float sum = 0;
#pragma unroll 4
            for (int g = 0; g < groups; ++g)
                sum += sums[g * count + e];
            if (share <= fan)
                put<1>(p, to, e, {sum});
            else
                *mine.piece<1>(first * apart, count, e) = {sum};
        }
        if (share <= fan)
            return;
        part /= fan;
        share = (share + fan - 1) / fan;
    }
}

/* The block's part, where gridDim.z blocks share k. */
__device__ Part part_of_grid()
{
    return {(int)blockIdx.z, (int)gridDim.z,
            (int)((blockIdx.y * gridDim.x + blockIdx.x) * gridDim.z), 1, 0};
}

/* The end of the kernels along k, along columns and for a column, and of rims. The block's `count`
 * sums, in `groups` summands each, are in shared memory. FEW: they are at most one to two
 * threads. */
template <bool FEW>
__device__ void finish(const Problem &p, const float *sums, int count, int groups, int threads,
                       const Part &mine, const Target &to)
{
    __syncthreads();
#pragma unroll 1
    for (int e = threadIdx.x; e < count; e += threads) {
        float v[4] = {};
#pragma unroll
        for (int g = 0; g < groups; g += 4)
#pragma unroll
            for (int i = 0; i < 4; ++i)
                v[i] += g + i < groups ? sums[(g + i) * count + e] : 0.0f;
        const Piece<1> all = {p.alpha * ((v[0] + v[1]) + (v[2] + v[3]))};
        if (mine.share == 1)
            put(p, to, e, all);
        else
            *mine.piece<1>(mine.part, count, e) = all;
    }
    if (mine.share == 1)
        return;
    if (FEW || 2 * count <= threads)
        add_few(p, to, mine, count, threads);
    else
        add_parts<1>(p, to, mine, count, threads);
}
