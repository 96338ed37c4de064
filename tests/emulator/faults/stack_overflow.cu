/* A thread whose local array is larger than a thread's local memory. */
// expect-stderr: .*stack_overflow\.cu:\d+: stack overflow: .*
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in huge
#include "../programs/check.h"

__global__ void huge(int *out, int n) {
    volatile int local[256 * 1024];
    for (int i = 0; i < n; ++i) local[i] = i;
    *out = local[n / 2];
}

int main() {
    int *out;
    OK(cudaMalloc(&out, 4));
    huge<<<1, 1>>>(out, 256 * 1024);
    cudaError_t error = cudaDeviceSynchronize();
    CHECK(error != cudaSuccess);
    return verdict();
}
