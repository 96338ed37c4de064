/* One block does not end while the others do: that one is named, on however many cores they run. */
// expect-stderr: {HERE}: the kernel does not end: a block was still running here after [\d.]+ s
// expect-stderr:     thread \(0,0,0\) of block \(40,0,0\), in stuck
#include "../programs/check.h"

__global__ void stuck(int *x) {
    if (blockIdx.x == 40)
        for (volatile int i = 0; i < 1; i = i + 0) {} // HERE
    for (volatile int i = 0; i < 300000; i = i + 1) {}
    x[0] = 1;
}

int main() {
    int *x;
    OK(cudaMalloc(&x, 128));
    emulator_time_limit(0.5);
    stuck<<<1000000, 1>>>(x);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    return verdict();
}
