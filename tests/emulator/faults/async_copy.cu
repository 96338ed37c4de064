/* cp.async through the cuda:: library. */
// expect-build-failure
// expect-stderr: {HERE}: the cuda:: library \(pipeline, barrier, \.\.\.\) runs only on a GPU; build with BACKEND=cuda on a machine that has one
#include "../programs/check.h"
#include <cuda/pipeline>

__global__ void copies(const float *from) {
    __shared__ float to[32];
    auto pipeline = cuda::make_pipeline(); // HERE
    pipeline.producer_acquire();
    cuda::memcpy_async(to + threadIdx.x, from + threadIdx.x, sizeof(float), pipeline);
    pipeline.producer_commit();
    pipeline.consumer_wait();
}

int main() { return verdict(); }
