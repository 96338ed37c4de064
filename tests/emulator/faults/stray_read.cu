/* A read far behind an allocation: told with its line, thread, block, and where it went. */
// expect-stderr: {HERE}: illegal memory access: read from address 0x[0-9a-f]+,
// expect-stderr:     7600 bytes behind the end of a device allocation of 400 bytes
// expect-stderr:     thread \(4,0,0\) of block \(1,0,0\), in read_far
#include "../programs/check.h"

__global__ void read_far(const float *x, float *y) {
    int i = blockIdx.x == 1 && threadIdx.x == 4 ? 2000 : threadIdx.x;
    y[threadIdx.x] = x[i]; // HERE
}

int main() {
    float *x, *y;
    OK(cudaMalloc(&x, 400));
    OK(cudaMalloc(&y, 400));
    read_far<<<2, 100>>>(x, y);
    OK(cudaGetLastError());
    EXPECT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    return verdict();
}
