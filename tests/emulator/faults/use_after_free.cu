/* A kernel reads memory that was freed. */
// expect-stderr: {HERE}: illegal memory access: read from address 0x[0-9a-f]+,
// expect-stderr:     in 4000 bytes of device memory that were freed
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in read_freed
#include "../programs/check.h"

__global__ void read_freed(const float *x, float *y) {
    *y = *x; // HERE
}

int main() {
    float *x, *y;
    OK(cudaMalloc(&x, 4000));
    OK(cudaMalloc(&y, 4000));
    OK(cudaFree(x));
    read_freed<<<1, 1>>>(x, y);
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return verdict();
}
