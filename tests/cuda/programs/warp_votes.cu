/* __ballot_sync, __any_sync, __all_sync and __activemask. */
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

int main() {
    unsigned *out = visible<unsigned>(64 * 8);
    votes<<<1, 64>>>(out);
    RUN();
    for (unsigned i = 0; i < 64; ++i) {
        const unsigned *mine = out + i * 8;
        EXPECT(mine[0], 0x49249249u);
        EXPECT(mine[1], i < 32 ? 0u : 1u);
        EXPECT(mine[2], i < 32 ? 1u : 0u);
        EXPECT(mine[3], 0xFFFFFFFEu);
        CHECK(mine[4] >> i % 32 & 1); /* more than the own lane is not promised */
        if (i % 32 >= 4) continue;
        EXPECT(mine[5], 0xBu);
        EXPECT(mine[6], 1u);
        EXPECT(mine[7], 0u);
    }
    int *in = visible<int>(1024), *total = visible<int>(1);
    for (int i = 0; i < 1024; ++i) in[i] = i % 10;
    count<<<4, 256>>>(in, total);
    RUN();
    EXPECT(*total, 408);
    return verdict();
}
