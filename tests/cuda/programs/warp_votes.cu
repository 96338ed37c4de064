/* __ballot_sync, __any_sync, __all_sync; __match_any_sync and __match_all_sync: which lanes hold
 * the same value; __reduce_*_sync (compute capability 8.0 and later); and __activemask, with warp
 * operations of that mask, which no other lane holds up. */
#include "check.h"

#define ALL 0xFFFFFFFFu

__global__ void votes(unsigned *out) {
    unsigned i = threadIdx.x, lane = i % 32, *mine = out + i * 8;
    mine[0] = __ballot_sync(ALL, lane % 3 == 0);
    mine[1] = __any_sync(ALL, i == 40) != 0;
    mine[2] = __all_sync(ALL, i < 40) != 0;
    mine[3] = __ballot_sync(ALL, lane << 8); /* any value but 0 is a yes */
    if (lane < 4) {
        mine[5] = __ballot_sync(0xFu, lane != 2);
        mine[6] = __all_sync(0xFu, lane < 4) != 0;
        mine[7] = __any_sync(0xFu, lane >= 4) != 0;
    }
}

__global__ void matches(unsigned *out, float negative_zero) {
    unsigned lane = threadIdx.x;
    out[lane] = __match_any_sync(ALL, lane % 4);
    out[lane + 32] = __match_any_sync(ALL, (long long)(lane / 16) << 40);
    out[lane + 64] = __match_any_sync(ALL, lane < 8 ? 1.5 : 2.5);
    /* Bits are compared, not numbers. */
    out[lane + 96] = __match_any_sync(ALL, lane == 3 ? negative_zero : 0.0f);
    if (lane < 10) out[lane + 128] = __match_any_sync(0x3FFu, (int)(lane > 6));
    int all = 5, none = 5;
    out[lane + 160] = __match_all_sync(ALL, 1LL << 40, &all) + __match_all_sync(ALL, lane, &none);
    out[lane + 192] = all != 0 && none == 0;
    if (lane > 2) out[lane + 224] = __match_all_sync(ALL - 7, lane < 3 ? 2.5f : 1.5f, &all);
}

__global__ void reductions(unsigned *u, int *s) {
    unsigned i = threadIdx.x, mask = i < 16 ? 0xFFFFu : 0xFFFF0000u;
    unsigned *mine = u + i * 6;
    if (i < 16) {
        mine[0] = __reduce_add_sync(mask, i);
        mine[1] = __reduce_min_sync(mask, i + 5);
        mine[2] = __reduce_max_sync(mask, i + 5);
        mine[3] = __reduce_and_sync(mask, i | 0x100u);
        mine[4] = __reduce_or_sync(mask, i << 4);
        mine[5] = __reduce_xor_sync(mask, i + 1);
    } else {
        int value = 20 - (int)i;
        s[i * 3] = __reduce_add_sync(mask, value);
        s[i * 3 + 1] = __reduce_min_sync(mask, value);
        s[i * 3 + 2] = __reduce_max_sync(mask, value);
    }
}

/* The lanes that are at a place together, in branches and loops. This loop is not unrolled: in one
 * that nvcc has unrolled, lanes of different iterations are together. */
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

static void check_active() {
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
}

int main() {
    check_active();
    unsigned *out = visible<unsigned>(64 * 8);
    RUN(votes<<<1, 64>>>(out));
    for (unsigned i = 0; i < 64; ++i) {
        const unsigned *mine = out + i * 8;
        EXPECT_EACH(mine, 0x49249249u, i < 32 ? 0u : 1u, i < 32 ? 1u : 0u, 0xFFFFFFFEu);
        if (i % 32 >= 4) continue;
        EXPECT(mine[5], 0xBu);
        EXPECT(mine[6], 1u);
        EXPECT(mine[7], 0u);
    }
    RUN(matches<<<1, 32>>>(out, -0.0f));
    for (int i = 0; i < 32; ++i) {
        EXPECT(out[i], 0x11111111u << i % 4);
        EXPECT(out[i + 32], i < 16 ? 0xFFFFu : 0xFFFF0000u);
        EXPECT(out[i + 64], i < 8 ? 0xFFu : 0xFFFFFF00u);
        EXPECT(out[i + 96], i == 3 ? 8u : 0xFFFFFFF7u);
        if (i < 10) EXPECT(out[i + 128], i > 6 ? 0x380u : 0x7Fu);
        EXPECT(out[i + 160], ALL);
        EXPECT(out[i + 192], 1u);
        if (i > 2) EXPECT(out[i + 224], ALL - 7);
    }
    int *s = visible<int>(32 * 3);
    RUN(reductions<<<1, 32>>>(out, s));
    for (int i = 0; i < 16; ++i) EXPECT_EACH(out + i * 6, 120, 5, 20, 0x100, 0xF0, 16);
    for (int i = 16; i < 32; ++i) EXPECT_EACH(s + i * 3, -56, -11, 4);
    return verdict();
}
