/* cp.async moves 4, 8 or 16 bytes; CUDA's header ends the kernel where it is asked for others. */
// expect-stderr: {HERE}: __pipeline_memcpy_async copies 4, 8 or 16 bytes.*
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in copies
#include "../programs/check.h"
#include <cuda_pipeline.h>

__global__ void copies(const float *from, float *out) {
    __shared__ float to[4];
    __pipeline_memcpy_async(to, from, 12); // HERE
    __pipeline_commit();
    __pipeline_wait_prior(0);
    *out = to[2];
}

int main() {
    float *x;
    OK(cudaMalloc(&x, 4000));
    copies<<<1, 1>>>(x, x + 100);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
    return verdict();
}
