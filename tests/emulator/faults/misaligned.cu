/* A float4 at an address that is no multiple of 16. A GPU always refuses it; a CPU only where the
 * compiler moves all four at once, as it does here. */
// expect-stderr: {HERE}: misaligned vector access.*
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in shifted
#include "../programs/check.h"

__global__ void shifted(const float *x, float4 *y) {
    y[threadIdx.x] = *(const float4 *)(x + 1); // HERE
}

int main() {
    float *x;
    float4 *y;
    OK(cudaMalloc(&x, 4000));
    OK(cudaMalloc(&y, 4000));
    shifted<<<1, 1>>>(x, y);
    EXPECT(cudaDeviceSynchronize(), cudaErrorMisalignedAddress);
    return verdict();
}
