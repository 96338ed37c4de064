/* A __device__ function that calls itself without end. */
// expect-stderr: .*endless_recursion\.cu:\d+: stack overflow: .*
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in down
#include "../programs/check.h"

__device__ __noinline__ int down(volatile int *x, int n) {
    volatile int local[4] = {n, *x, 0, 0};
    return n < 0 ? 0 : down(x, n + 1) + local[n & 3];
}
__global__ void recurse(int *x) { *x = down(x, 0); }

int main() {
    int *x;
    OK(cudaMalloc(&x, 4));
    recurse<<<1, 1>>>(x);
    cudaError_t error = cudaDeviceSynchronize();
    CHECK(error != cudaSuccess);
    return verdict();
}
