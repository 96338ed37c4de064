/* An index that went through the roof, to an address that this machine cannot even have. */
// expect-stderr: {HERE}: misaligned vector access, or an address that cannot exist
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in write_very_far
#include "../programs/check.h"

__global__ void write_very_far(float *x, long i) {
    x[i] = 1; // HERE
}

int main() {
    float *x;
    OK(cudaMalloc(&x, 4000));
    write_very_far<<<1, 1>>>(x, 1L << 45);
    cudaError_t error = cudaDeviceSynchronize(); /* cudaErrorIllegalAddress on a GPU */
    CHECK(error == cudaErrorIllegalAddress || error == cudaErrorMisalignedAddress);
    return verdict();
}
