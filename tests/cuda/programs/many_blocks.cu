/* Grids of many blocks, in one, two and three dimensions, and blocks of many threads: each runs
 * once. */
#include "check.h"

__global__ void mark(unsigned char *seen, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) seen[i]++;
}
__global__ void mark_blocks(unsigned *seen) {
    size_t block = blockIdx.x + (size_t)gridDim.x * (blockIdx.y + (size_t)gridDim.y * blockIdx.z);
    atomicAdd(&seen[block], 1u);
}
__global__ void saxpy(int n, float a, const float *x, float *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] += a * x[i];
}

int main() {
    const int n = 100000 * 8 - 5;
    unsigned char *seen = visible<unsigned char>(n + 5);
    RUN(mark<<<100000, 8>>>(seen, n));
    for (int i = 0; i < n; ++i) CHECK(seen[i] == 1);
    EXPECT((int)seen[n], 0);

    unsigned *blocks = visible<unsigned>(100 * 30 * 20);
    RUN(mark_blocks<<<dim3(100, 30, 20), 3>>>(blocks));
    for (int i = 0; i < 100 * 30 * 20; ++i) EXPECT(blocks[i], 3u);

    const int size = 3000000;
    float *x = visible<float>(size), *y = visible<float>(size);
    for (int i = 0; i < size; ++i) x[i] = i % 1000;
    saxpy<<<(size + 1023) / 1024, 1024>>>(size, 2, x, y);
    RUN(saxpy<<<500, 1024>>>(size, 1, x, y));
    for (int i = 0; i < size; ++i) CHECK(y[i] == 3.0f * (i % 1000));
    return verdict();
}
