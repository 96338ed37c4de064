/* __syncwarp orders what the threads of one warp, or some of them, do to shared memory. */
#include "check.h"

__global__ void reduce_in_warps(int *out) {
    __shared__ int values[128];
    int i = threadIdx.x, lane = i % 32;
    values[i] = i;
    __syncwarp();
    for (int offset = 16; offset > 0; offset /= 2) {
        int other = lane < offset ? values[i + offset] : 0;
        __syncwarp();
        if (lane < offset) values[i] += other;
        __syncwarp();
    }
    if (lane == 0) out[i / 32] = values[i];
}

/* Half of a warp by itself; the other half does something else meanwhile. */
__global__ void half(int *out) {
    __shared__ int values[32];
    int i = threadIdx.x;
    if (i < 16) {
        values[i] = i;
        __syncwarp(0x0000FFFF);
        out[i] = values[15 - i];
    } else {
        for (int round = 0; round < 3; ++round) {
            values[i] = i + round;
            __syncwarp(0xFFFF0000);
            out[i] = values[47 - i];
            __syncwarp(0xFFFF0000);
        }
    }
}

int main() {
    int *out = visible<int>(64);
    reduce_in_warps<<<1, 128>>>(out);
    RUN();
    for (int w = 0; w < 4; ++w) EXPECT(out[w], 496 + 32 * 32 * w);
    half<<<1, 32>>>(out);
    RUN();
    for (int i = 0; i < 16; ++i) EXPECT(out[i], 15 - i);
    for (int i = 16; i < 32; ++i) EXPECT(out[i], 47 - i + 2);
    return verdict();
}
