/* Blocks that share k: each puts its sums down in global memory, and the last one to come adds
 * them up, all in one launch. A product with a C of few tiles and a long k fills the GPU only
 * so. What it costs is some three microseconds, the time of two answers of memory and of a
 * counter, so it is nothing for products that take no longer than a launch.
 *
 * The sums are added up in the same order whoever comes last, so the result is the same each time:
 * 16 blocks' sums at a time, and then those of 16 times 16. */
#pragma once
#include "problem.cuh"

#define FAN 16 /* most sums of blocks that one block adds up */

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

/* Part number `part` of `share` parts of a tile, whose slots in parts_memory are `step` apart. A
 * block that streams (step is 2) can have two: the end of a tile, and the beginning of another. */
struct Part {
    int part, share, first, step;

    __device__ int slot(int i) const { return first + i * step + (step == 2 && i == 0); }
};

/* Element e of a block, V columns wide. */
template <int V>
__device__ void put(const Problem &p, const Target &to, int e, Piece<V> v)
{
    const int row = to.row + e / to.pieces, col = to.col + e % to.pieces * V;
    if (row >= to.own_row && row < p.m && col >= to.own_col && col < to.end_col)
        store<V>(p, row, col, v);
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

/* A part of `count` pieces has been put down; the last block of each FAN adds them up, and the last
 * of those again, always in the same order. The last of all writes C. */
template <int V>
__device__ void add_parts(const Problem &p, const Target &to, const Part &mine, int count,
                          int threads)
{
    constexpr int AT_ONCE = 4; /* elements a thread waits for */
    Piece<V> *const parts = (Piece<V> *)parts_memory;
    int part = mine.part, share = mine.share;

    for (int level = 0, apart = 1;; ++level, apart *= FAN) {
        const int first = part / FAN * FAN, members = min(FAN, share - first);
        if (!is_last(&parts_done[level][mine.slot(first * apart)], members))
            return;
        for (int e0 = threadIdx.x; e0 < count; e0 += AT_ONCE * threads) {
            Piece<V> v[AT_ONCE] = {};
#pragma unroll 4
            for (int i = first; i < first + members; ++i)
#pragma unroll
                for (int u = 0; u < AT_ONCE; ++u)
                    if (e0 + u * threads < count)
                        v[u].add(parts[(size_t)mine.slot(i * apart) * count + e0 + u * threads]);
#pragma unroll
            for (int u = 0; u < AT_ONCE; ++u)
                if (e0 + u * threads >= count)
                    break;
                else if (share <= FAN)
                    put(p, to, e0 + u * threads, v[u]);
                else
                    parts[(size_t)mine.slot(first * apart) * count + e0 + u * threads] = v[u];
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

/* The end of the kernels along k and along columns. The block's `count` sums, in `groups` summands
 * each, are in shared memory. */
__device__ void finish(const Problem &p, const float *sums, int count, int groups, int threads,
                       int share, const Target &to)
{
    __syncthreads();
    for (int e = threadIdx.x; e < count; e += threads) {
        Piece<1> v = {};
#pragma unroll
        for (int g = 0; g < groups; ++g)
            v.of[0] += sums[g * count + e];
        v.of[0] *= p.alpha;
        if (share == 1)
            put(p, to, e, v);
        else
            ((Piece<1> *)parts_memory)[(size_t)this_block() * count + e] = v;
    }
    if (share > 1)
        add_parts<1>(p, to, {(int)blockIdx.z, share, this_block() - (int)blockIdx.z, 1}, count,
                     threads);
}
