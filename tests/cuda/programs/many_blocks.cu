/* Grids of many blocks, in one, two and three dimensions: every block and thread runs once. */
#include "check.h"

__global__ void mark(unsigned char *seen, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) seen[i]++;
}
__global__ void mark_blocks(unsigned *seen) {
    size_t block = blockIdx.x + (size_t)gridDim.x * (blockIdx.y + (size_t)gridDim.y * blockIdx.z);
    atomicAdd(&seen[block], 1u);
}

int main() {
    const int n = 100000 * 8 - 5;
    unsigned char *seen = visible<unsigned char>(n + 5);
    mark<<<100000, 8>>>(seen, n);
    RUN();
    for (int i = 0; i < n; ++i) CHECK(seen[i] == 1);
    EXPECT((int)seen[n], 0);

    unsigned *blocks = visible<unsigned>(100 * 30 * 20);
    mark_blocks<<<dim3(100, 30, 20), 3>>>(blocks);
    RUN();
    for (int i = 0; i < 100 * 30 * 20; ++i) EXPECT(blocks[i], 3u);
    return verdict();
}
