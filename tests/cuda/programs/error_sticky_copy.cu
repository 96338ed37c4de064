/* A kernel's error shows first at whatever call synchronizes; here a copy. */
#include "check.h"

__global__ void faults(int *x) { x[-(1LL << 40)] = 1; }

int main() {
    int *x, y = 5;
    OK(cudaMalloc(&x, 4));
    static capture err;
    err.begin(2);
    faults<<<1, 1>>>(x);
    cudaError_t at_copy = cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost);
    err.end();
    EXPECT(at_copy, cudaErrorIllegalAddress);
    EXPECT(y, 5);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
    return verdict();
}
