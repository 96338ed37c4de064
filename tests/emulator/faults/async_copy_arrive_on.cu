/* A copy that reports to a barrier in shared memory. */
// expect-build-failure
// clang-format off
// expect-stderr: {HERE}: __pipeline_arrive_on runs only on a GPU; build with BACKEND=cuda on a machine that has one
// clang-format on
#include "../programs/check.h"
#include <cuda_pipeline.h>

__global__ void copies(const float *from, unsigned long long *barrier) {
    __shared__ float to[32];
    __pipeline_memcpy_async(&to[threadIdx.x], &from[threadIdx.x], 4);
    __pipeline_arrive_on(barrier); // HERE
}

int main() { return verdict(); }
