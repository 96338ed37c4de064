/* What is compiled once cannot ask where it runs. */
// expect-build-failure
// expect-stderr: {HERE}: what depends on __CUDA_ARCH__ here is compiled once for host and device on the CPU backend; test it inside __global__ or __device__ functions only
#include "../programs/check.h"

__host__ __device__ int where() {
#ifdef __CUDA_ARCH__
    return 1;
#else
    return 2; // HERE
#endif
}

int main() { return where(); }
