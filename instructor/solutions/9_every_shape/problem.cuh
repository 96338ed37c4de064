/* What every kernel of 9_every_shape/ works on, and how it reads and writes it. */
#pragma once
#include <cuda_pipeline.h>
#include <stdint.h>

/* C = alpha A B + beta C, all row by row. */
struct Problem {
    const float *A, *B;
    float *C;
    int m, n, k;
    float alpha, beta;
};

#define THREADS 256 /* of a block, except of tiles, row and column */
#define MOST_THREADS 1024

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

/* What is read once. It is the first to leave the L2 cache again, and so takes less of it from what
 * is read again, or has yet to be written back. */
__device__ Piece<1> load_once(const Piece<1> *from) { return {__ldcs(from->of)}; }
__device__ Piece<2> load_once(const Piece<2> *from)
{
    const float2 v = __ldcs((const float2 *)from);
    return {v.x, v.y};
}
__device__ Piece<4> load_once(const Piece<4> *from)
{
    const float4 v = __ldcs((const float4 *)from);
    return {v.x, v.y, v.z, v.w};
}

template <int V>
__device__ void store(const Problem &p, float *at, Piece<V> v)
{
    Piece<V> *to = (Piece<V> *)at;
    if (p.beta != 0.0f)
        v.add(*to, p.beta);
    *to = v;
}

template <int V>
__device__ void store(const Problem &p, int row, int col, Piece<V> v)
{
    store<V>(p, p.C + (size_t)row * p.n + col, v);
}
