/* __activemask(): the lanes that are at this place together, in branches and loops; and warp
 * operations with that mask, which no other lane holds up. The loop is not unrolled: in one that
 * nvcc has unrolled, lanes of different iterations are together. */
#include "check.h"

__global__ void one_atomic_for_a_branch(int *counter, int *rank) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    if (i % 3 == 0) {
        unsigned mask = __activemask();
        int leader = __ffs(mask) - 1, base = 0;
        if (lane == leader) base = atomicAdd(counter, __popc(mask));
        base = __shfl_sync(mask, base, leader);
        rank[i] = base + __popc(mask & ((1u << lane) - 1));
    }
}

__global__ void both_branches(unsigned *mask, int *sum) {
    int lane = threadIdx.x;
    sum[lane] = lane;
    if (lane < 8) {
        mask[lane] = __activemask();
        for (int d = 4; d; d /= 2) sum[lane] += __shfl_down_sync(mask[lane], sum[lane], d, 8);
    } else {
        mask[lane] = __activemask();
        for (int d = 4; d; d /= 2) sum[lane] += __shfl_down_sync(mask[lane], sum[lane], d, 8);
    }
}

__global__ void in_a_loop(unsigned *mask) {
#pragma unroll 1
    for (int i = 0; i < (int)threadIdx.x; i++) {
        unsigned here = __activemask();
        if (i == 5) mask[threadIdx.x] = here;
        __syncwarp(here);
    }
}

__global__ void before_a_barrier(unsigned *mask) {
    if (threadIdx.x % 2) mask[threadIdx.x] = __activemask();
    __syncthreads();
    mask[threadIdx.x + 64] = __activemask();
    if (threadIdx.x > 40) return;
    mask[threadIdx.x + 128] = __activemask();
}

__global__ void behind_an_operation(unsigned *mask) {
    if (threadIdx.x) __syncwarp(~1u);
    mask[threadIdx.x] = __activemask();
}

int main() {
    int *counter = visible<int>(1), *rank = visible<int>(300);
    RUN(one_atomic_for_a_branch<<<3, 100>>>(counter, rank));
    EXPECT(*counter, 100);
    bool seen[100] = {};
    for (int i = 0; i < 300; i += 3) seen[rank[i]] = true;
    for (bool each : seen) EXPECT(each, true);

    unsigned *mask = visible<unsigned>(192);
    RUN(both_branches<<<1, 32>>>(mask, rank));
    EXPECT(mask[3], 0x000000FFu);
    EXPECT(mask[9], 0xFFFFFF00u);
    EXPECT(rank[0], 28);
    EXPECT(rank[8], 92);

    RUN(in_a_loop<<<1, 32>>>(mask));
    EXPECT(mask[6], 0xFFFFFFC0u);
    EXPECT(mask[31], 0xFFFFFFC0u);

    RUN(before_a_barrier<<<1, 64>>>(mask));
    EXPECT(mask[33], 0xAAAAAAAAu);
    EXPECT(mask[64 + 5], 0xFFFFFFFFu);
    EXPECT(mask[128 + 40], 0x1FFu);

    RUN(behind_an_operation<<<1, 32>>>(mask));
    EXPECT(mask[0], 0xFFFFFFFFu);
    return verdict();
}
