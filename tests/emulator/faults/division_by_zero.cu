/* An integer divided by zero. A GPU goes on with a meaningless value; an x86 CPU stops there. */
// expect-stderr: {HERE}: integer division by zero.*
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in divide
#include "../programs/check.h"

__global__ void divide(int *x, int by) {
    *x = 100 / by; // HERE
}

int main() {
    int *x;
    OK(cudaMalloc(&x, 4));
    divide<<<1, 1>>>(x, 0);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    return verdict();
}
