/* Host code writes through a device pointer after a kernel has run. */
// expect-stderr: {HERE}: host code dereferences the device pointer 0x[0-9a-f]+;
// expect-stderr:     only kernels and cudaMemcpy can access device memory
// expect-status: -11
#include "../programs/check.h"

__global__ void fill(float *x) { x[threadIdx.x] = 1; }

int main() {
    float *x;
    OK(cudaMalloc(&x, 400));
    fill<<<1, 100>>>(x);
    RUN();
    x[0] = 5; // HERE
    return verdict();
}
