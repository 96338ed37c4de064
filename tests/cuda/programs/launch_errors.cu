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

struct config {
    dim3 grid, block;
};

int main() {
    blocks = visible<unsigned long long>(1);
    const config impossible[] = {
        {0, 1},           {{1, 0}, 1},        {{1, 1, 0}, 1},      {1, 0},           {1, {16, 0}},
        {1, {16, 16, 0}}, {1, 1025},          {1, {1, 1025}},      {1, {1, 1, 65}},  {1, {32, 33}},
        {1, {64, 64}},    {1, {16, 16, 5}},   {1, {65536, 65536}}, /* the product is 0 in 32 bits */
        {{1, 65536}, 1},  {{1, 1, 65536}, 1}, {2147483648u, 1},    {(unsigned)-1, 1}};
    for (const config &each : impossible)
        EXPECT(launch(each.grid, each.block), IMPOSSIBLE_CONFIGURATION);
    EXPECT(launch(dim3(1), dim3(1), 48 * 1024 + 1), cudaErrorInvalidValue);
    EXPECT(launch(dim3(1), dim3(1), 1 << 20), cudaErrorInvalidValue);
    EXPECT(launch(dim3(1), dim3(1), (size_t)-1), cudaErrorInvalidValue);

    const config possible[] = {{1, 1024},          {1, {1, 1024}},  {1, {1, 1, 64}},
                               {1, {32, 32}},      {1, {4, 4, 64}}, {{1, 65535}, 1},
                               {{1, 1, 65535}, 1}, {65536 + 1, 1}};
    for (const config &each : possible) OK(launch(each.grid, each.block));
    OK(launch(dim3(2, 2), dim3(1), 48 * 1024));
    return verdict();
}
