/* Functions that device code may call, and host code its own: __device__, __forceinline__,
 * __noinline__, for both sides, such as call themselves, lambdas and pointers; C++'s and C's
 * library; uint and its siblings, warpSize, and the sizes of plain types on the device. */
#include <algorithm>
#include <assert.h>
#include <cmath>
#include <cstdlib>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <utility>
#include <vector>

#include "check.h"

static __device__ __forceinline__ int index_of(int row, int col, int n) { return row * n + col; }
__device__ inline int plus_two(int x) { return x + 2; }
__device__ __noinline__ int plus_three(int x) { return x + 3; }
__attribute__((noinline)) __device__ int plus_four(int x) { return x + 4; }
[[nodiscard]] __device__ int plus_five(int x) { return x + 5; }
__device__ auto plus_six(int x) -> int { return x + 6; }
static inline __device__ int unused(int x) { return rand() * x; } /* not compiled for a GPU */
__host__ __device__ int divide_up(int a, int b) { return (a + b - 1) / b; }
__host__ __device__ constexpr int constant(int x) { return x * 3; }
constexpr int square(int x) { return x * x; }
static_assert(square(2) == 4, "known when compiled");
template <class T> __host__ __device__ T clamp_to(T x, T low, T high) {
    return x < low ? low : x > high ? high : x;
}
__device__ int declared_first(int x);

/* In a template of the host's nvcc lets a call of device code pass that depends on its arguments. */
struct on_device {
    __device__ float operator()(float x) { return x; }
};
template <class F> float on_host(F f) { return f(1.0f); }

/* A struct with member functions for both sides, passed by value. */
struct matrix {
    int rows, cols;
    float *elements;
    __host__ __device__ matrix(int r, int c, float *e) : rows(r), cols(c), elements(e) {}
    __device__ float &at(int row, int col) const { return elements[index_of(row, col, cols)]; }
    __host__ __device__ int size() const { return rows * cols; }
};

template <int N> __global__ void of_size(int *out) {
    int array[constant(N)] = {};
    out[0] = array[N] + sizeof array / sizeof *array;
}
template __global__ void of_size<3>(int *);

__global__ void integers(int *out) {
    int base = 100;
    auto add = [=](int x) { return base + x; }; /* needs no flag inside a kernel */
    auto deeper = [&] { return [&](int x) { return plus_two(x); }(base); };
    store(out, plus_two(10), plus_three(10), plus_four(10), plus_five(10), plus_six(10),
          divide_up(33, 16), declared_first(10), clamp_to(7, 0, 3), add(31), deeper());
}

__global__ void members(matrix m) {
    if (threadIdx.x == 0) m.at(1, 2) = (float)m.size();
}

typedef int (*function)(int);
__device__ function table[] = {plus_two, plus_three};
__device__ function chosen = plus_four;
template <class F> __device__ int apply(F f, int x) { return f(x); }
__global__ void pointers(int *out, int n) {
    store(out, table[n % 2](1), chosen(1), apply(plus_six, 1));
}

__global__ void library(float *p, int n) {
    p[3] = std::sqrt(p[0]) + std::abs(-1.0f) + std::pow(p[1], 2.0f) + std::fma(p[0], p[1], 1.0f);
    p[4] = std::move(p[3]) + isnan(p[0]) + signbit(p[1]);
    memcpy(p + 5, p, sizeof *p);
    memset(p + 6, 0, sizeof *p);
    char *memory = (char *)malloc(4);
    free(memory);
    int *object = new int(3);
    delete object;
    if (n < 0) printf("%d\n", n);
    assert(n >= 0);
    for (float x : {1.0f, 2.0f}) p[7] += x;
}

__device__ int declared_first(int x) { return x * x; }

/* With a barrier at the bottom, and no deeper than the 1 KB of stack that a thread of a GPU has if
 * nobody asks for more. */
__device__ int down(int depth, int *slot) {
    if (depth == 0) {
        slot[threadIdx.x] = threadIdx.x;
        __syncthreads();
        return slot[blockDim.x - 1 - threadIdx.x];
    }
    int below = down(depth - 1, slot);
    return below + 1;
}

__global__ void recurse(int *out) {
    __shared__ int slot[64];
    out[threadIdx.x] = down(12, slot);
}

__global__ void types(uint *out) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    ushort narrow = (ushort)(i + 65535u);
    store(out, (uint)narrow, (uint)warpSize, (uint)sizeof(long), (uint)sizeof(size_t),
          (uint)sizeof(wchar_t), (uint)(int8_t)-1 + (uint)(uint64_t)2);
}

int main() {
    std::vector<float> values(8, 4.0f);
    auto host = [&](float x) { return std::max(x, values[0]) + square(3) + divide_up(4, 3); };
    EXPECT(host(1), 15.0f);

    float *f = visible<float>(16);
    int *n = visible<int>(64);
    uint *u = visible<uint>(6);
    RUN(of_size<2><<<1, 1>>>(n));
    EXPECT(n[0], 6);
    void (*kernel)(int *) = of_size<3>;
    RUN(kernel<<<1, 1>>>(n));
    EXPECT(n[0], 9);
    RUN(integers<<<1, 1>>>(n));
    EXPECT_EACH(n, 12, 13, 14, 15, 16, divide_up(33, 16), 100, 3, 131, 102);
    RUN(members<<<1, 32>>>(matrix(3, 5, f)));
    EXPECT(f[7], 15.0f);
    RUN(pointers<<<1, 1>>>(n, 1));
    EXPECT_EACH(n, 4, 5, 7);
    f[0] = f[1] = 4;
    RUN(library<<<1, 1>>>(f, 0));
    EXPECT_EACH(f + 3, 36, 36, 4, 0, 18);
    RUN(recurse<<<1, 64>>>(n));
    for (int i = 0; i < 64; ++i) EXPECT(n[i], 63 - i + 12);
    RUN(types<<<1, 1>>>(u));
    EXPECT_EACH(u, 65535, 32, 8, 8, 4, 1);

    if (failures > 1000) return (int)on_host(on_device());
    return verdict();
}
