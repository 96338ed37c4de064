/* A kernel that does not end is stopped at the time limit, and the place is its loop. */
// expect-stderr: {HERE}: the kernel does not end: a block was still running here after [\d.]+ s
// expect-stderr:     thread \(3,0,0\) of block \(1,0,0\), in forever
#include "../programs/check.h"

__global__ void forever(volatile int *x, int n) {
    int i = 0;
    if (blockIdx.x == 1 && threadIdx.x == 3)
        while (i < n) i += *x; // HERE
    x[threadIdx.x] = i;
}

int main() {
    int *x;
    OK(cudaMalloc(&x, 128));
    OK(cudaMemset(x, 0, 128));
    emulator_time_limit(0.5);
    forever<<<2, 32>>>(x, 100);
    OK(cudaGetLastError());
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    EXPECT(cudaMemset(x, 0, 128), cudaErrorLaunchTimeout);
    return verdict();
}
