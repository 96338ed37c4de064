/* __threadfence and a counter: the block that finishes last adds up what all have written (the
 * programming guide's example). */
#include "check.h"

__device__ unsigned finished;

__global__ void sum(const float *in, int n, volatile float *partial, float *total) {
    __shared__ float values[256];
    __shared__ bool is_last;
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += in[i];
    values[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        float block = 0;
        for (int i = 0; i < 256; ++i) block += values[i];
        partial[blockIdx.x] = block;
        __threadfence();
        is_last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float all = 0;
        for (unsigned i = 0; i < gridDim.x; ++i) all += partial[i];
        *total = all;
        finished = 0;
    }
}

int main() {
    enum { N = 100000, BLOCKS = 50 };
    float *in = visible<float>(N), *partial = visible<float>(BLOCKS), *total = visible<float>(1);
    for (int i = 0; i < N; ++i) in[i] = i % 8;
    for (int run = 0; run < 3; ++run) {
        *total = 0;
        sum<<<BLOCKS, 256>>>(in, N, partial, total);
        RUN();
        EXPECT(*total, 350000.0f);
    }
    return verdict();
}
