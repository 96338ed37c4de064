/* A kernel follows a null pointer, in a function that it calls. */
// expect-stderr: {HERE}: illegal memory access: read from address \(nil\)
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in load
#include "../programs/check.h"

__device__ __noinline__ float load(const float *x) {
    return x[threadIdx.x]; // HERE
}
__global__ void follow_null(const float *x, float *y) { y[threadIdx.x] = load(x); }

int main() {
    float *y;
    OK(cudaMalloc(&y, 4000));
    follow_null<<<1, 1>>>(NULL, y);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return verdict();
}
