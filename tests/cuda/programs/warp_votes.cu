/* __ballot_sync, __any_sync, __all_sync and __activemask; __match_any_sync: which lanes hold the
 * same value; and __reduce_*_sync (compute capability 8.0 and later). */
#include "check.h"

#define ALL 0xFFFFFFFFu

__global__ void votes(unsigned *out) {
    unsigned i = threadIdx.x, lane = i % 32, *mine = out + i * 8;
    mine[0] = __ballot_sync(ALL, lane % 3 == 0);
    mine[1] = __any_sync(ALL, i == 40) != 0;
    mine[2] = __all_sync(ALL, i < 40) != 0;
    mine[3] = __ballot_sync(ALL, lane << 8); /* any value but 0 is a yes */
    mine[4] = __activemask();
    if (lane < 4) {
        mine[5] = __ballot_sync(0xFu, lane != 2);
        mine[6] = __all_sync(0xFu, lane < 4) != 0;
        mine[7] = __any_sync(0xFu, lane >= 4) != 0;
    }
}

/* Counting by warps: one atomic each. */
__global__ void count(const int *in, int *total) {
    unsigned yes = __ballot_sync(ALL, in[blockIdx.x * blockDim.x + threadIdx.x] > 5);
    if (threadIdx.x % 32 == 0) atomicAdd(total, __popc(yes));
}

__global__ void matches(unsigned *out, float negative_zero) {
    unsigned lane = threadIdx.x;
    out[lane] = __match_any_sync(ALL, lane % 4);
    out[lane + 32] = __match_any_sync(ALL, (long long)(lane / 16) << 40);
    out[lane + 64] = __match_any_sync(ALL, lane < 8 ? 1.5 : 2.5);
    /* Bits are compared, not numbers. */
    out[lane + 96] = __match_any_sync(ALL, lane == 3 ? negative_zero : 0.0f);
    if (lane < 10) out[lane + 128] = __match_any_sync(0x3FFu, (int)(lane > 6));
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

int main() {
    unsigned *out = visible<unsigned>(64 * 8);
    RUN(votes<<<1, 64>>>(out));
    for (unsigned i = 0; i < 64; ++i) {
        const unsigned *mine = out + i * 8;
        EXPECT_EACH(mine, 0x49249249u, i < 32 ? 0u : 1u, i < 32 ? 1u : 0u, 0xFFFFFFFEu);
        CHECK(mine[4] >> i % 32 & 1); /* more than the own lane is not promised */
        if (i % 32 >= 4) continue;
        EXPECT(mine[5], 0xBu);
        EXPECT(mine[6], 1u);
        EXPECT(mine[7], 0u);
    }
    int *in = visible<int>(1024), *total = visible<int>(1);
    for (int i = 0; i < 1024; ++i) in[i] = i % 10;
    RUN(count<<<4, 256>>>(in, total));
    EXPECT(*total, 408);

    RUN(matches<<<1, 32>>>(out, -0.0f));
    for (int i = 0; i < 32; ++i) {
        EXPECT(out[i], 0x11111111u << i % 4);
        EXPECT(out[i + 32], i < 16 ? 0xFFFFu : 0xFFFF0000u);
        EXPECT(out[i + 64], i < 8 ? 0xFFu : 0xFFFFFF00u);
        EXPECT(out[i + 96], i == 3 ? 8u : 0xFFFFFFF7u);
        if (i < 10) EXPECT(out[i + 128], i > 6 ? 0x380u : 0x7Fu);
    }
    int *s = visible<int>(32 * 3);
    RUN(reductions<<<1, 32>>>(out, s));
    for (int i = 0; i < 16; ++i) EXPECT_EACH(out + i * 6, 120, 5, 20, 0x100, 0xF0, 16);
    for (int i = 16; i < 32; ++i) EXPECT_EACH(s + i * 3, -56, -11, 4);
    return verdict();
}
