/* __match_any_sync: which lanes hold the same value. */
#include "check.h"

__global__ void matches(unsigned *out, float negative_zero) {
    unsigned lane = threadIdx.x;
    out[lane] = __match_any_sync(0xFFFFFFFFu, lane % 4);
    out[lane + 32] = __match_any_sync(0xFFFFFFFFu, (long long)(lane / 16) << 40);
    out[lane + 64] = __match_any_sync(0xFFFFFFFFu, lane < 8 ? 1.5 : 2.5);
    /* Bits are compared, not numbers. */
    out[lane + 96] = __match_any_sync(0xFFFFFFFFu, lane == 3 ? negative_zero : 0.0f);
    if (lane < 10) out[lane + 128] = __match_any_sync(0x3FFu, (int)(lane > 6));
}

int main() {
    unsigned *out = visible<unsigned>(160);
    matches<<<1, 32>>>(out, -0.0f);
    RUN();
    for (int i = 0; i < 32; ++i) {
        EXPECT(out[i], 0x11111111u << i % 4);
        EXPECT(out[i + 32], i < 16 ? 0xFFFFu : 0xFFFF0000u);
        EXPECT(out[i + 64], i < 8 ? 0xFFu : 0xFFFFFF00u);
        EXPECT(out[i + 96], i == 3 ? 8u : 0xFFFFFFF7u);
        if (i < 10) EXPECT(out[i + 128], i > 6 ? 0x380u : 0x7Fu);
    }
    return verdict();
}
