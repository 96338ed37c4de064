/* The four shuffles with widths of 32, 16, 8 and 1, and of every type that CUDA overloads them for
 * (CUDA C++ Programming Guide, "Warp Shuffle Functions"). */
#include "check.h"

#define ALL 0xFFFFFFFFu

__global__ void shuffles(int *out, int width) {
    int i = threadIdx.x, value = i * 10, *mine = out + i * 11;
    mine[0] = __shfl_sync(ALL, value, 3, width);
    mine[1] = __shfl_sync(ALL, value, i + 5, width); /* wraps round inside the width */
    mine[2] = __shfl_up_sync(ALL, value, 2, width);
    mine[3] = __shfl_down_sync(ALL, value, 3, width);
    mine[4] = __shfl_xor_sync(ALL, value, 5, width);
    mine[5] = __shfl_sync(ALL, value, -1, width);
    mine[6] = __shfl_up_sync(ALL, value, 0, width);
    mine[7] = __shfl_down_sync(ALL, value, 31, width);
    mine[8] = __shfl_up_sync(ALL, value, 32 + 2, width); /* five bits count */
    mine[9] = __shfl_down_sync(ALL, value, 32 + 3, width);
    mine[10] = __shfl_xor_sync(ALL, value, 32 + 5, width);
}

template <class T> __global__ void reversed(T *out, T step) {
    int lane = threadIdx.x % 32;
    T value = (T)(step * (T)lane);
    out[threadIdx.x] = __shfl_sync(ALL, value, 31 - lane);
    out[threadIdx.x + 32] = __shfl_xor_sync(ALL, value, 1);
    out[threadIdx.x + 64] = __shfl_down_sync(ALL, value, 1);
    out[threadIdx.x + 96] = __shfl_up_sync(ALL, value, 1);
}

/* An integer smaller than int is promoted, as where a function is overloaded for int. */
__global__ void small(int *out) {
    int lane = threadIdx.x;
    auto whole = __shfl_sync(ALL, lane == 3, 3);
    out[lane] = whole + (int)sizeof whole;
    out[lane + 32] = __shfl_xor_sync(ALL, (signed char)-lane, 1);
    out[lane + 64] = __shfl_down_sync(ALL, (unsigned short)(65535 - lane), 1);
    out[lane + 96] = __shfl_up_sync(ALL, (char)lane, 1);
    out[lane + 128] = __match_any_sync(ALL, lane % 2 == 0);
}

template <class T> static void check_type(T step) {
    T *out = visible<T>(128);
    RUN(reversed<T><<<1, 32>>>(out, step));
    for (int i = 0; i < 32; ++i) {
        EXPECT(out[i], (T)(step * (T)(31 - i)));
        EXPECT(out[i + 32], (T)(step * (T)(i ^ 1)));
        EXPECT(out[i + 64], (T)(step * (T)(i < 31 ? i + 1 : i)));
        EXPECT(out[i + 96], (T)(step * (T)(i ? i - 1 : i)));
    }
}

int main() {
    int *out = visible<int>(64 * 11);
    const int widths[] = {32, 16, 8, 1};
    for (int w : widths) {
        RUN(shuffles<<<1, 64>>>(out, w));
        for (int i = 0; i < 64; ++i) {
            int lane = i % w, base = i - lane;
            const int *mine = out + i * 11;
            EXPECT_EACH(mine, (base + 3 % w) * 10, (base + (i % 32 + 5) % w) * 10,
                        (lane < 2 ? i : i - 2) * 10, (lane + 3 >= w ? i : i + 3) * 10);
            /* A lane beyond the own segment's end gives the own value; one before it is read. */
            int source = i % 32 ^ 5, end = base % 32 + w;
            EXPECT(mine[4], (source < end ? i - i % 32 + source : i) * 10);
            EXPECT(mine[5], (base + w - 1) * 10);
            EXPECT(mine[6], i * 10);
            EXPECT(mine[7], (w == 32 && lane == 0 ? i + 31 : i) * 10);
            EXPECT_EACH(mine + 8, mine[2], mine[3], mine[4]);
        }
    }
    RUN(small<<<1, 32>>>(out));
    for (int i = 0; i < 32; ++i) {
        EXPECT(out[i], 5);
        EXPECT(out[i + 32], -(i ^ 1));
        EXPECT(out[i + 64], 65535 - (i < 31 ? i + 1 : i));
        EXPECT(out[i + 96], i ? i - 1 : 0);
        EXPECT((unsigned)out[i + 128], i % 2 ? 0xAAAAAAAAu : 0x55555555u);
    }
    check_type<int>(-3);
    check_type<unsigned>(100000000u);
    check_type<float>(0.1f);
    check_type<double>(0.1);
    check_type<long>(-(1L << 40));
    check_type<unsigned long>(1UL << 40);
    check_type<long long>(-(1LL << 40));
    check_type<unsigned long long>(1ULL << 58);
    return verdict();
}
