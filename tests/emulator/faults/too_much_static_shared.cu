/* nvcc refuses more than 48 KB of static shared memory; the emulator says so at the launch. */
// expect-stderr: the kernel declares 65536 bytes of __shared__ memory; a block may have 49152 \(nvcc would refuse to compile it\)
#include "../programs/check.h"

__global__ void large(int *x) {
    __shared__ int tile[128][128];
    tile[threadIdx.x][0] = 1;
    __syncthreads();
    *x = tile[0][0];
}

int main() {
    int *x = visible<int>(1);
    large<<<1, 128>>>(x);
    CHECK(cudaGetLastError() != cudaSuccess);
    OK(cudaDeviceSynchronize());
    return verdict();
}
