/* Shuffles of every type that CUDA overloads them for. */
#include "check.h"

#define ALL 0xFFFFFFFFu

template <class T> __global__ void reversed(T *out, T step) {
    int lane = threadIdx.x % 32;
    T value = (T)(step * (T)lane);
    out[threadIdx.x] = __shfl_sync(ALL, value, 31 - lane);
    out[threadIdx.x + 32] = __shfl_xor_sync(ALL, value, 1);
    out[threadIdx.x + 64] = __shfl_down_sync(ALL, value, 1);
    out[threadIdx.x + 96] = __shfl_up_sync(ALL, value, 1);
}

template <class T> static void check_type(T step) {
    T *out = visible<T>(128);
    reversed<T><<<1, 32>>>(out, step);
    RUN();
    for (int i = 0; i < 32; ++i) {
        EXPECT(out[i], (T)(step * (T)(31 - i)));
        EXPECT(out[i + 32], (T)(step * (T)(i ^ 1)));
        EXPECT(out[i + 64], (T)(step * (T)(i < 31 ? i + 1 : i)));
        EXPECT(out[i + 96], (T)(step * (T)(i ? i - 1 : i)));
    }
}

int main() {
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
