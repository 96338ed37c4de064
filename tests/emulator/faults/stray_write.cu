/* A write before an allocation, as from a negative index. */
// expect-stderr: {HERE}: illegal memory access: write to address 0x[0-9a-f]+,
// expect-stderr:     4000 bytes before the beginning of a device allocation of 4000 bytes
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in write_before
#include "../programs/check.h"

__global__ void write_before(float *x, int row) {
    x[row * 1000 + (int)threadIdx.x] = 1; // HERE
}

int main() {
    float *x;
    OK(cudaMalloc(&x, 4000));
    write_before<<<1, 1>>>(x, -1);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return verdict();
}
