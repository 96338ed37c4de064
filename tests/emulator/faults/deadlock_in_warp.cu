/* All lanes but one have returned or wait at a warp operation for the last, which waits at another:
 * the place that is named lies in the kernel, not in the emulator's own code. */
// expect-stderr: {HERE}: deadlock: the threads of this block wait for each other; this one waits here
// expect-stderr:     thread \(\d+,0,0\) of block \(0,0,0\), in stuck
#include "../programs/check.h"

__global__ void stuck(int *x) {
    if (threadIdx.x < 16) return;
    unsigned mask = threadIdx.x == 20 ? 0xFFF00000u : 0xFFFF0000u;
    x[threadIdx.x] = __shfl_sync(mask, 1, 16); // HERE
}

int main() {
    int *x;
    OK(cudaMalloc(&x, 128));
    stuck<<<1, 32>>>(x);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    return verdict();
}
