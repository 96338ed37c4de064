/* Functions that kernels call: __device__, __forceinline__, __noinline__, for both sides, and such
 * as call themselves; uint and its siblings, warpSize, and the sizes of plain types on the device.
 */
#include "check.h"
#include <stdint.h>

__device__ __forceinline__ float square(float x) { return x * x; }
static __device__ __forceinline__ int index_of(int row, int col, int n) { return row * n + col; }
__forceinline__ __device__ int plus_one(int x) { return x + 1; }
__device__ inline int plus_two(int x) { return x + 2; }
__device__ __noinline__ int plus_three(int x) { return x + 3; }
__host__ __device__ int divide_up(int a, int b) { return (a + b - 1) / b; }
__host__ __device__ constexpr int constant(int x) { return x * 3; }
__device__ void load(float tile[4][4], const float *from, int n) {
    tile[threadIdx.y][threadIdx.x] = from[index_of(threadIdx.y, threadIdx.x, n)];
}
__device__ int declared_first(int x);

/* A struct with member functions for both sides, passed by value. */
struct matrix {
    int rows, cols;
    float *elements;
    __host__ __device__ matrix(int r, int c, float *e) : rows(r), cols(c), elements(e) {}
    __device__ float &at(int row, int col) const { return elements[row * cols + col]; }
    __host__ __device__ int size() const { return rows * cols; }
};

__global__ void functions(float *out, const float *in) {
    __shared__ float tile[4][4];
    load(tile, in, 4);
    __syncthreads();
    out[index_of(threadIdx.y, threadIdx.x, 4)] = square(tile[threadIdx.x][threadIdx.y]);
}

__global__ void integers(int *out) {
    int array[constant(2)];
    store(out, plus_one(10), plus_two(10), plus_three(10), divide_up(33, 16), declared_first(10),
          (int)(sizeof array / sizeof *array));
}

__global__ void members(matrix m) {
    if (threadIdx.x == 0) m.at(1, 2) = (float)m.size();
}

/* Device-side lambdas need no flag when they stay inside a kernel. */
__global__ void lambda(int *out) {
    int base = 100;
    auto add = [=](int x) { return base + x; };
    out[threadIdx.x] = add(threadIdx.x);
}

__device__ int declared_first(int x) { return x * x; }

/* With a barrier at the bottom, and no deeper than the 1 KB of stack that a thread of a GPU has if
 * nobody asks for more. */
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

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
    out[threadIdx.x] = fibonacci(threadIdx.x % 11);
    out[threadIdx.x + 64] = down(12, slot);
}

__global__ void types(uint *out, uint n) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    ushort narrow = (ushort)(i + 65535u);
    if (i < n) out[i] = narrow;
    if (i == 0) {
        out[1] = warpSize;
        out[2] = sizeof(long);
        out[3] = sizeof(size_t);
        out[4] = sizeof(wchar_t);
        out[5] = (uint)(int8_t)-1 + (uint)(uint64_t)2;
    }
}

int main() {
    float *in = visible<float>(16), *out = visible<float>(16);
    int *n = visible<int>(128);
    uint *u = visible<uint>(100);
    for (int i = 0; i < 16; ++i) in[i] = i;
    RUN(functions<<<1, dim3(4, 4)>>>(out, in));
    for (int i = 0; i < 16; ++i) EXPECT(out[i], (float)((i % 4 * 4 + i / 4) * (i % 4 * 4 + i / 4)));
    RUN(integers<<<1, 1>>>(n));
    EXPECT_EACH(n, 11, 12, 13, divide_up(33, 16), 100, 6);
    members<<<1, 32>>>(matrix(3, 5, out));
    RUN(lambda<<<1, 32>>>(n));
    EXPECT(out[7], 15.0f);
    EXPECT(n[31], 131);
    RUN(recurse<<<1, 64>>>(n));
    EXPECT(n[10], 55);
    for (int i = 0; i < 64; ++i) EXPECT(n[64 + i], 63 - i + 12);
    RUN(types<<<1, 100>>>(u, 1));
    EXPECT_EACH(u, 65535, 32, 8, 8, 4, 1);
    return verdict();
}
