/* Warp operations that not all 32 lanes take part in: masks, a last warp that is not full, lanes
 * that have returned. (__syncwarp, which orders what threads do to shared memory: half_warps.cu and
 * syncwarp_shared.cu of tests/kernels/right.) */
#include "check.h"

/* Two groups of one warp, one of which does more operations than the other. */
__global__ void uneven(int *out) {
    int i = threadIdx.x, sum = i;
    if (i < 8) {
        for (int offset = 4; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xFFu, sum, offset, 8);
    } else {
        for (int round = 0; round < 20; ++round) sum = __shfl_sync(0xFFFFFF00u, sum + 1, 8);
    }
    out[i] = sum;
}

/* A part of the warp has business of its own first, while the others already wait for all; once
 * for either order in which the lanes may come. */
__global__ void part_then_all(int *out) {
    int lane = threadIdx.x, sum = 0;
    for (int round = 0; round < 4; ++round) {
        if (round % 2) __syncthreads();
        if (lane < 4) sum += __shfl_xor_sync(0xFu, lane, 1) - __shfl_xor_sync(0xFu, lane, 2);
        if (lane < 8) sum += __shfl_sync(0xFFu, lane, 7);
        if (lane >= 28) sum += __shfl_sync(0xF0000000u, lane, 30);
        sum += __shfl_sync(0xFFFFFFFFu, lane * 100, round);
        if (lane < 2) sum += __shfl_xor_sync(0x3u, lane, 1) + __shfl_xor_sync(0x3u, lane, 1);
    }
    out[lane] = sum;
}

/* 40 threads: the second warp has 8 lanes. Those that it lacks are not waited for, whatever mask
 * names them. */
__global__ void last_warp(unsigned *out) {
    unsigned mask = threadIdx.x < 32 ? 0xFFFFFFFFu : 0xFFu;
    unsigned sum = 1;
    for (int offset = 16; offset > 0; offset /= 2) {
        unsigned other = __shfl_down_sync(mask, sum, offset);
        if (threadIdx.x % 32 + offset < __popc(mask)) sum += other;
    }
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = sum;
    out[2 + threadIdx.x] = __ballot_sync(0xFFFFFFFFu, 1);
}

/* A mask may name lanes that have returned; they are not waited for, whether they return before the
 * others come or while these wait. */
__global__ void all_but_returned(int *out) {
    int i = threadIdx.x;
    if (i < 4) return;
    int all = __shfl_sync(0xFFFFFFFFu, i, 31 - i % 8);
    if (i >= 20) return;
    out[i] = all + __shfl_sync(0xFFFFFFFFu, i, 23 - i);
}

/* Warps run along x first, then y: a block of 8x8 has two. */
__global__ void two_dimensions(int *out) {
    int i = threadIdx.y * 8 + threadIdx.x;
    out[i] = __shfl_sync(0xFFFFFFFFu, i, 0);
}

int main() {
    int *out = visible<int>(64);
    unsigned *u = visible<unsigned>(64);
    RUN(uneven<<<1, 32>>>(out));
    EXPECT(out[0], 28);
    for (int i = 8; i < 32; ++i) EXPECT(out[i], 28);
    RUN(part_then_all<<<1, 32>>>(out));
    for (int i = 0; i < 32; ++i) {
        int wanted = 600;
        if (i < 4) wanted += 4 * ((i ^ 1) - (i ^ 2));
        if (i < 8) wanted += 4 * 7;
        if (i >= 28) wanted += 4 * 30;
        if (i < 2) wanted += 8 * (i ^ 1);
        EXPECT(out[i], wanted);
    }
    RUN(last_warp<<<1, 40>>>(u));
    EXPECT_EACH(u, 32u, 8u);
    EXPECT(u[2 + 31], 0xFFFFFFFFu);
    EXPECT(u[2 + 39], 0xFFu);
    RUN(all_but_returned<<<1, 32>>>(out));
    for (int i = 4; i < 20; ++i) EXPECT(out[i], 31 - i % 8 + 23 - i);
    RUN(two_dimensions<<<1, dim3(8, 8)>>>(out));
    for (int i = 0; i < 64; ++i) EXPECT(out[i], i / 32 * 32);
    return verdict();
}
