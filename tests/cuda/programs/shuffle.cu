/* The four shuffles with widths of 32, 16, 8 and 1 (CUDA C++ Programming Guide, "Warp Shuffle
 * Functions"). */
#include "check.h"

#define ALL 0xFFFFFFFFu

__global__ void shuffles(int *out, int width) {
    int i = threadIdx.x, value = i * 10, *mine = out + i * 8;
    mine[0] = __shfl_sync(ALL, value, 3, width);
    mine[1] = __shfl_sync(ALL, value, i + 5, width); /* wraps round inside the width */
    mine[2] = __shfl_up_sync(ALL, value, 2, width);
    mine[3] = __shfl_down_sync(ALL, value, 3, width);
    mine[4] = __shfl_xor_sync(ALL, value, 5, width);
    mine[5] = __shfl_sync(ALL, value, -1, width);
    mine[6] = __shfl_up_sync(ALL, value, 0, width);
    mine[7] = __shfl_down_sync(ALL, value, 31, width);
}

__global__ void default_width(int *out) {
    int sum = threadIdx.x, most = threadIdx.x * 7 % 32, scan = 1;
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(ALL, sum, offset);
    for (int mask = 16; mask > 0; mask /= 2) {
        int other = __shfl_xor_sync(ALL, most, mask);
        most = other > most ? other : most;
    }
    for (int offset = 1; offset < 32; offset *= 2) {
        int other = __shfl_up_sync(ALL, scan, offset);
        if ((int)threadIdx.x % 32 >= offset) scan += other;
    }
    out[threadIdx.x * 3] = __shfl_sync(ALL, sum, 0);
    out[threadIdx.x * 3 + 1] = most;
    out[threadIdx.x * 3 + 2] = scan;
}

int main() {
    int *out = visible<int>(64 * 8);
    const int widths[] = {32, 16, 8, 1};
    for (int w : widths) {
        shuffles<<<1, 64>>>(out, w);
        RUN();
        for (int i = 0; i < 64; ++i) {
            int lane = i % w, base = i - lane;
            const int *mine = out + i * 8;
            EXPECT(mine[0], (base + 3 % w) * 10);
            EXPECT(mine[1], (base + (i % 32 + 5) % w) * 10);
            EXPECT(mine[2], (lane < 2 ? i : i - 2) * 10);
            EXPECT(mine[3], (lane + 3 >= w ? i : i + 3) * 10);
            /* A lane beyond the own segment's end gives the own value; one before it is read. */
            int source = i % 32 ^ 5, end = base % 32 + w;
            EXPECT(mine[4], (source < end ? i - i % 32 + source : i) * 10);
            EXPECT(mine[5], (base + w - 1) * 10);
            EXPECT(mine[6], i * 10);
            EXPECT(mine[7], (w == 32 && lane == 0 ? i + 31 : i) * 10);
        }
    }
    default_width<<<1, 64>>>(out);
    RUN();
    for (int i = 0; i < 64; ++i) {
        EXPECT(out[i * 3], i < 32 ? 496 : 496 + 1024);
        EXPECT(out[i * 3 + 1], 31);
        EXPECT(out[i * 3 + 2], i % 32 + 1);
    }
    return verdict();
}
