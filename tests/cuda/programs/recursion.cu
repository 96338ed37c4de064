/* A __device__ function that calls itself, with a barrier at the bottom of it. No deeper than
 * the 1 KB of stack that a thread of a GPU has if nobody asks for more. */
#include "check.h"

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

int main() {
    int *out = visible<int>(128);
    recurse<<<1, 64>>>(out);
    RUN();
    EXPECT(out[10], 55);
    for (int i = 0; i < 64; ++i) EXPECT(out[64 + i], 63 - i + 12);
    return verdict();
}
