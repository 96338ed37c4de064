/* __trap() ends the kernel with an error. */
// expect-stderr: {HERE}: __trap\(\) was called
// expect-stderr:     thread \(7,0,0\) of block \(0,0,0\), in stops
#include "../programs/check.h"

__global__ void stops(int *x) {
    if (threadIdx.x == 7) __trap(); // HERE
    *x = 1;
}

int main() {
    int *x;
    OK(cudaMalloc(&x, 4));
    stops<<<1, 32>>>(x);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    return verdict();
}
