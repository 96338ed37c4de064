/* The source of an asynchronous copy is read at once: so a wrong one is told at the copy's line, in
 * a function of its own as well, whose last act it is. */
// expect-stderr: {HERE}: illegal memory access: read from address 0x[0-9a-f]+,
// expect-stderr:     7600 bytes behind the end of a device allocation of 400 bytes
// expect-stderr:     thread \(3,0,0\) of block \(0,0,0\), in fetch
#include "../programs/check.h"
#include <cuda_pipeline.h>

__device__ __noinline__ void fetch(float *to, const float *from) {
    __pipeline_memcpy_async(to, from, 4); // HERE
}

__global__ void copies(const float *from, float *out) {
    __shared__ float to[32];
    fetch(&to[threadIdx.x], &from[threadIdx.x == 3 ? 2000 : 0]);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    out[threadIdx.x] = to[threadIdx.x];
}

int main() {
    float *x, *y;
    OK(cudaMalloc(&x, 400));
    OK(cudaMalloc(&y, 400));
    copies<<<1, 32>>>(x, y);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return verdict();
}
