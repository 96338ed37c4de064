/* A negative index made unsigned by threadIdx.x: 16 GB behind, which the message tells. */
// expect-stderr: {HERE}: illegal memory access: write to address 0x[0-9a-f]+,
// expect-stderr:     17179861184 bytes behind the end of a device allocation of 4000 bytes
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in write_behind
#include "../programs/check.h"

__global__ void write_behind(float *x, int row) {
    x[row * 1000 + threadIdx.x] = 1; // HERE
}

int main() {
    float *x;
    OK(cudaMalloc(&x, 4000));
    write_behind<<<1, 1>>>(x, -1);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return verdict();
}
