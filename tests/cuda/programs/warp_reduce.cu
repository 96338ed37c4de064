/* __reduce_*_sync (compute capability 8.0 and later). */
#include "check.h"

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
    unsigned *u = visible<unsigned>(32 * 6);
    int *s = visible<int>(32 * 3);
    reductions<<<1, 32>>>(u, s);
    RUN();
    for (int i = 0; i < 16; ++i) {
        EXPECT(u[i * 6], 120u);
        EXPECT(u[i * 6 + 1], 5u);
        EXPECT(u[i * 6 + 2], 20u);
        EXPECT(u[i * 6 + 3], 0x100u);
        EXPECT(u[i * 6 + 4], 0xF0u);
        EXPECT(u[i * 6 + 5], 16u);
    }
    for (int i = 16; i < 32; ++i) {
        EXPECT(s[i * 3], -56);
        EXPECT(s[i * 3 + 1], -11);
        EXPECT(s[i * 3 + 2], 4);
    }
    return verdict();
}
