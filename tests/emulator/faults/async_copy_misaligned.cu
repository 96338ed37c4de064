/* Both addresses of an asynchronous copy have to be multiples of its size, on a CPU as well. */
// expect-stderr: {HERE}: misaligned asynchronous copy: .*
// expect-stderr:     thread \(1,0,0\) of block \(0,0,0\), in copies
#include "../programs/check.h"
#include <cuda_pipeline.h>

__global__ void copies(const float *from, float *out) {
    __shared__ __align__(16) float to[8];
    __pipeline_memcpy_async(&to[threadIdx.x * 4], &from[threadIdx.x * 5], 16); // HERE
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = to[threadIdx.x * 4];
}

int main() {
    float *x;
    OK(cudaMalloc(&x, 4000));
    copies<<<1, 2>>>(x, x + 100);
    EXPECT(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
    return verdict();
}
