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
template <int COUNT, int GROUPS, int threads = THREADS, class At>
__device__ void finish(const Problem &p, const float *sums, int share, At place)
{
    const int tile = this_block() - blockIdx.z;
    auto put = [&](int e, Piece<1> v) {
        const int2 at = place(e);
        if (at.x < p.m && at.y < p.n)
            store<1>(p, at.x, at.y, v);
    };
    __syncthreads();
    for (int e = threadIdx.x; e < COUNT; e += threads) {
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
        add_parts<1, COUNT, threads>(blockIdx.z, share, [&](int i) { return tile + i; }, put);
}
