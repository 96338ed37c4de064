/* Blocks that end, but too many of them: that is slow, and not endless. */
// expect-stderr: {HERE}: time limit exceeded: [1-9]\d* of 1000000 blocks were done after [\d.]+ s
// expect-stderr:     thread \(0,0,0\) of block \(\d+,0,0\), in slow
#include "../programs/check.h"

__global__ void slow(int *x) {
    for (volatile int i = 0; i < 300000; i = i + 1) {} // HERE
    x[0] = 1;
}

int main() {
    int *x;
    OK(cudaMalloc(&x, 128));
    emulator_time_limit(0.5);
    slow<<<1000000, 1>>>(x);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    return verdict();
}
