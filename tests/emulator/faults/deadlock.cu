/* Half of a warp waits at a barrier, half at a warp operation that names all lanes: nothing will
 * ever change, and no time limit is needed to know it. */
// expect-stderr: {HERE}: deadlock: the threads of this block wait for each other; this one waits here
// expect-stderr:     thread \(\d+,0,0\) of block \(0,0,0\), in stuck
#include "../programs/check.h"

__global__ void stuck(int *x) {
    if (threadIdx.x >= 16) __syncwarp(); else __syncthreads(); // HERE
    x[threadIdx.x] = 1;
}

int main() {
    int *x;
    OK(cudaMalloc(&x, 128));
    stuck<<<1, 32>>>(x);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    return verdict();
}
