/* uint and its siblings, warpSize, and the sizes of plain types on the device. */
#include "check.h"
#include <stdint.h>

__global__ void types(uint *out, uint n) {
    uint i = blockIdx.x * blockDim.x + threadIdx.x;
    ushort narrow = (ushort)(i + 65535u);
    if (i < n) out[i] = narrow;
    if (i == 0) {
        out[1] = warpSize;
        out[2] = sizeof(long);
        out[3] = sizeof(size_t);
        out[4] = sizeof(wchar_t);
        out[5] = (uint)(int8_t)-1 + (uint)(uint64_t)2;
    }
}

int main() {
    uint n = 100, *out = visible<uint>(n);
    types<<<1, n>>>(out, 1);
    RUN();
    EXPECT(out[0], 65535u);
    EXPECT(out[1], 32u);
    EXPECT(out[2], 8u);
    EXPECT(out[3], 8u);
    EXPECT(out[4], 4u);
    EXPECT(out[5], 1u);
    return verdict();
}
