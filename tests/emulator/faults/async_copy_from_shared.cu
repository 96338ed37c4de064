/* A copy within shared memory: cp.async comes from global memory. */
// expect-stderr: {HERE}: an asynchronous copy comes from global memory, and this address is in .*
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in copies
#include "../programs/check.h"
#include <cuda_pipeline.h>

__global__ void copies(float *out) {
    __shared__ float from[4], to[4];
    from[threadIdx.x] = 1;
    __syncthreads();
    __pipeline_memcpy_async(&to[threadIdx.x], &from[threadIdx.x], 4); // HERE
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = to[threadIdx.x];
}

int main() {
    float *x;
    OK(cudaMalloc(&x, 4000));
    copies<<<1, 1>>>(x);
    EXPECT(cudaDeviceSynchronize(), cudaErrorInvalidAddressSpace);
    return verdict();
}
