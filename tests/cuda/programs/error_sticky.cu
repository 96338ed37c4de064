/* An error of a running kernel loses the context: the launch says nothing yet, the next
 * synchronization tells, and so does every call after it. */
#include "check.h"

__global__ void faults(int *x) { x[-(1LL << 40)] = 1; }
__global__ void fine(int *x) { *x = 1; }

int main() {
    int *x, *more, y = 0;
    OK(cudaMalloc(&x, 4));
    static capture err;
    err.begin(2);
    faults<<<1, 1>>>(x);
    cudaError_t at_synchronize = cudaDeviceSynchronize();
    err.end();
    EXPECT(at_synchronize, cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    EXPECT(cudaPeekAtLastError(), cudaErrorIllegalAddress);
    EXPECT(cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost), cudaErrorIllegalAddress);
    EXPECT(cudaMalloc(&more, 4), cudaErrorIllegalAddress);
    EXPECT(cudaMemset(x, 0, 4), cudaErrorIllegalAddress);
    fine<<<1, 1>>>(x);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
    EXPECT(cudaFree(x), cudaErrorIllegalAddress);
    EXPECT(cudaGetLastError(), cudaErrorIllegalAddress);
    return verdict();
}
