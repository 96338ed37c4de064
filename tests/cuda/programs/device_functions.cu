/* Functions that kernels call: __device__, __forceinline__, __noinline__, for both sides, and
 * __device__ variables that they share. */
#include "check.h"

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
    out[0] = plus_one(10);
    out[1] = plus_two(10);
    out[2] = plus_three(10);
    out[3] = divide_up(33, 16);
    out[4] = declared_first(10);
    out[5] = (int)(sizeof array / sizeof *array);
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

int main() {
    float *in = visible<float>(16), *out = visible<float>(16);
    int *n = visible<int>(32);
    for (int i = 0; i < 16; ++i) in[i] = i;
    functions<<<1, dim3(4, 4)>>>(out, in);
    RUN();
    for (int i = 0; i < 16; ++i) EXPECT(out[i], (float)((i % 4 * 4 + i / 4) * (i % 4 * 4 + i / 4)));
    integers<<<1, 1>>>(n);
    RUN();
    EXPECT(n[0], 11);
    EXPECT(n[1], 12);
    EXPECT(n[2], 13);
    EXPECT(n[3], divide_up(33, 16));
    EXPECT(n[4], 100);
    EXPECT(n[5], 6);
    members<<<1, 32>>>(matrix(3, 5, out));
    lambda<<<1, 32>>>(n);
    RUN();
    EXPECT(out[7], 15.0f);
    EXPECT(n[31], 131);
    return verdict();
}
