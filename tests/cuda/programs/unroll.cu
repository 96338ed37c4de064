/* #pragma unroll, with a number and without, before nested loops, macros and constants; it changes
 * no result. */
#include "check.h"

#define TILE 16
#define UNROLL _Pragma("unroll")
constexpr int FACTOR = 4;

template <int N> __global__ void sums(const int *in, int *out, int n) {
    int total = 0, i = 0;
#pragma unroll
    for (int i = 0; i < TILE; ++i) total += in[i];
    out[0] = total, total = 0;
#pragma unroll 4
    for (int i = 0; i < n; ++i) total += in[i];
    out[1] = total, total = 0;
#pragma unroll(8)
    for (int i = 0; i < n; i++) total += in[i];
    out[2] = total, total = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) total += in[i * 4 + j];
    }
    out[3] = total, total = 0;
#  pragma   unroll FACTOR
    for (int i = 0; i < TILE; ++i) total += in[i];
    out[4] = total, total = 0;
#pragma unroll N
    for (int i = 0; i < N; ++i) total += in[i];
    out[5] = total, total = 0;
#pragma unroll
    while (i < TILE) total += in[i++];
    out[6] = total, total = 0;
    UNROLL for (int j = 0; j < TILE; ++j) total += in[j];
    out[7] = total, total = 0;

    /* The trip count of an unrolled loop need not be known, nor be a multiple. */
#pragma unroll
    for (int j = 0; j < n - 1; ++j) {
        if (j == 3) continue;
        if (j == 12) break;
        total += in[j];
    }
    out[8] = total, total = 0;

    /* Many copies, no braces around, two pragmas, and one before no loop. */
    if (n)
#pragma unroll 100000
        for (int j = 0; j < n; ++j) total += in[j];
    out[9] = total, total = 0;
#pragma unroll 4
#pragma unroll
    for (int j = 0; j < n; ++j) total += in[j];
    out[10] = total;
#ifdef CUDA_EMULATOR /* nvcc warns */
#pragma unroll
#endif
    out[11] = total;
}

int main() {
    int *in = visible<int>(TILE), *out = visible<int>(16);
    for (int i = 0; i < TILE; ++i) in[i] = i + 1;
    RUN(sums<TILE><<<1, 1>>>(in, out, TILE));
    for (int i = 0; i < 12; ++i) EXPECT(out[i], i == 8 ? 78 - 4 : 136);
    return verdict();
}
