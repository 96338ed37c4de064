/* Impossible configurations and the error of each (CUDA C++ Programming Guide, "Technical
 * Specifications per Compute Capability"); the largest possible ones run. */
#include "check.h"

__global__ void count(unsigned long long *n) {
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) atomicAdd(n, 1ULL);
}

static unsigned long long *blocks;

static cudaError_t launch(dim3 grid, dim3 block, size_t shared = 0) {
    *blocks = 0;
    count<<<grid, block, shared>>>(blocks);
    cudaError_t error = cudaGetLastError();
    OK(cudaDeviceSynchronize());
    EXPECT(cudaGetLastError(), cudaSuccess);
    unsigned long long wanted = (unsigned long long)grid.x * grid.y * grid.z;
    EXPECT(*blocks, error == cudaSuccess ? wanted : 0ULL);
    return error;
}
#define IMPOSSIBLE(...) EXPECT(launch(__VA_ARGS__), IMPOSSIBLE_CONFIGURATION)

int main() {
    blocks = visible<unsigned long long>(1);
    IMPOSSIBLE(dim3(0), dim3(1));
    IMPOSSIBLE(dim3(1, 0), dim3(1));
    IMPOSSIBLE(dim3(1, 1, 0), dim3(1));
    IMPOSSIBLE(dim3(1), dim3(0));
    IMPOSSIBLE(dim3(1), dim3(16, 0));
    IMPOSSIBLE(dim3(1), dim3(16, 16, 0));
    IMPOSSIBLE(dim3(1), dim3(1025));
    IMPOSSIBLE(dim3(1), dim3(1, 1025));
    IMPOSSIBLE(dim3(1), dim3(1, 1, 65));
    IMPOSSIBLE(dim3(1), dim3(32, 33));
    IMPOSSIBLE(dim3(1), dim3(64, 64));
    IMPOSSIBLE(dim3(1), dim3(16, 16, 5));
    IMPOSSIBLE(dim3(1), dim3(65536, 65536)); /* the product is 0 in 32 bits */
    IMPOSSIBLE(dim3(1, 65536), dim3(1));
    IMPOSSIBLE(dim3(1, 1, 65536), dim3(1));
    IMPOSSIBLE(dim3(2147483648u), dim3(1));
    IMPOSSIBLE(dim3((unsigned)-1), dim3(1));
    EXPECT(launch(dim3(1), dim3(1), 48 * 1024 + 1), cudaErrorInvalidValue);
    EXPECT(launch(dim3(1), dim3(1), 1 << 20), cudaErrorInvalidValue);
    EXPECT(launch(dim3(1), dim3(1), (size_t)-1), cudaErrorInvalidValue);

    OK(launch(dim3(1), dim3(1024)));
    OK(launch(dim3(1), dim3(1, 1024)));
    OK(launch(dim3(1), dim3(1, 1, 64)));
    OK(launch(dim3(1), dim3(32, 32)));
    OK(launch(dim3(1), dim3(4, 4, 64)));
    OK(launch(dim3(1, 65535), dim3(1)));
    OK(launch(dim3(1, 1, 65535), dim3(1)));
    OK(launch(dim3(65536 + 1), dim3(1)));
    OK(launch(dim3(2, 2), dim3(1), 48 * 1024));
    return verdict();
}
