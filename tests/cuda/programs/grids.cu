/* Grids and blocks in one, two and three dimensions: every thread runs once, and its threadIdx,
 * blockIdx, blockDim and gridDim are complete, unique and constant. Also a grid of many blocks. */
#include "check.h"

struct place {
    uint3 thread, block;
    dim3 block_dim, grid_dim;
    int times;
};

__device__ bool same_place(uint3 t, uint3 b) {
    return t.x == threadIdx.x && t.y == threadIdx.y && t.z == threadIdx.z && b.x == blockIdx.x &&
           b.y == blockIdx.y && b.z == blockIdx.z;
}

__global__ void note(place *places, int *changed) {
    uint3 thread = threadIdx, block = blockIdx;
    unsigned in_block = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned number = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    place *p = &places[number * (blockDim.x * blockDim.y * blockDim.z) + in_block];
    p->thread = thread;
    p->block = block;
    p->block_dim = blockDim;
    p->grid_dim = gridDim;
    atomicAdd(&p->times, 1);
    __syncthreads();
    if (!same_place(thread, block)) atomicAdd(changed, 1);
    __syncwarp(__activemask());
    if (!same_place(thread, block)) atomicAdd(changed, 1);
}

__global__ void mark(unsigned char *seen, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) seen[i]++;
}
static void three_dimensions() {
    const unsigned threads = 6 * 7 * 8, blocks = 3 * 4 * 5;
    place *places = visible<place>(threads * blocks);
    int *changed = visible<int>(1);
    RUN(note<<<dim3(3, 4, 5), dim3(6, 7, 8)>>>(places, changed));
    EXPECT(*changed, 0);
    for (unsigned b = 0; b < blocks; ++b)
        for (unsigned t = 0; t < threads; ++t) {
            const place &p = places[b * threads + t];
            EXPECT(p.times, 1);
            CHECK(p.thread.x == t % 6 && p.thread.y == t / 6 % 7 && p.thread.z == t / 42);
            CHECK(p.block.x == b % 3 && p.block.y == b / 3 % 4 && p.block.z == b / 12);
            CHECK(p.block_dim.x == 6 && p.block_dim.y == 7 && p.block_dim.z == 8);
            CHECK(p.grid_dim.x == 3 && p.grid_dim.y == 4 && p.grid_dim.z == 5);
        }
}

int main() {
    three_dimensions();

    const int n = 100000 * 8 - 5;
    unsigned char *seen = visible<unsigned char>(n + 5);
    RUN(mark<<<100000, 8>>>(seen, n));
    for (int i = 0; i < n; ++i) CHECK(seen[i] == 1);
    EXPECT((int)seen[n], 0);
    return verdict();
}
