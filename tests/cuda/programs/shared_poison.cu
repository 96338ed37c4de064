/* Shared memory holds nothing of the block before. A GPU leaves there what it likes, so a kernel
 * that forgets to write it may look right; the emulator fills it with NaN when a block starts. */
#include "check.h"

__shared__ float of_the_file[3];

__global__ void read_unwritten(float *out) {
    __shared__ float fixed[64];
    extern __shared__ float sized[];
    float *mine = out + blockIdx.x * 4;
    if (threadIdx.x == 0) {
        mine[0] = fixed[63];
        mine[1] = sized[63];
        mine[2] = of_the_file[2];
        mine[3] = fixed[0] + 1;
    }
    __syncthreads();
    fixed[threadIdx.x] = sized[threadIdx.x] = 1;
    if (threadIdx.x < 3) of_the_file[threadIdx.x] = 1;
}

int main() {
    float *out = visible<float>(400);
    read_unwritten<<<100, 64, 64 * sizeof(float)>>>(out);
    RUN();
#ifdef CUDA_EMULATOR /* no GPU does this */
    for (int i = 0; i < 400; ++i) CHECK(out[i] != out[i]);
#endif
    return verdict();
}
