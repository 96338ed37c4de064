/* A phase loop that never reaches its end, with barriers in it. */
// expect-stderr: .*endless_barriers\.cu:\d+: the kernel does not end: a block was still running here after [\d.]+ s
// expect-stderr:     thread \(\d+,0,0\) of block \(0,0,0\), in forever
#include "../programs/check.h"

__global__ void forever(int *x, unsigned n) {
    for (unsigned i = n; i >= 0; --i) {
        x[threadIdx.x] += i;
        __syncthreads();
    }
}

int main() {
    int *x;
    OK(cudaMalloc(&x, 128));
    emulator_time_limit(0.5);
    forever<<<1, 32>>>(x, 100);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    return verdict();
}
