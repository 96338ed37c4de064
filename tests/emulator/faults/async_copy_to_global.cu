/* A copy to global memory: cp.async goes to shared memory. */
// expect-stderr: {HERE}: an asynchronous copy goes to shared memory, and this address is elsewhere
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in copies
#include "../programs/check.h"
#include <cuda_pipeline.h>

__global__ void copies(float *out) {
    __pipeline_memcpy_async(&out[4], &out[0], 4); // HERE
    __pipeline_commit();
    __pipeline_wait_prior(0);
}

int main() {
    float *x;
    OK(cudaMalloc(&x, 4000));
    copies<<<1, 1>>>(x);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalInstruction);
    return verdict();
}
