/* Kernels with template parameters that the launch names, in full or up to the defaults. */
#include "check.h"

template <int TILE> __global__ void sized(int *out) {
    __shared__ int tile[TILE];
    tile[threadIdx.x] = TILE;
    __syncthreads();
    out[threadIdx.x] = tile[TILE - 1 - threadIdx.x];
}

template <typename T> __global__ void typed(T *out, T value) { out[threadIdx.x] = value; }

template <typename T, int ROWS, int COLS = 2, bool NEGATIVE = false> __global__ void many(T *out) {
    T value = ROWS * 100 + COLS;
    if constexpr (NEGATIVE) value = -value;
    out[threadIdx.x] = value;
}

template <typename T> struct twice {
    static __device__ T of(T x) { return x + x; }
};
template <typename T, template <typename> class F> __global__ void applied(T *out) {
    out[threadIdx.x] = F<T>::of(threadIdx.x);
}

template <> __global__ void typed<double>(double *out, double value) {
    out[threadIdx.x] = value + 1000;
}

template <int TILE> void launch(int *out) { sized<TILE><<<1, TILE>>>(out); }

int main() {
    int *n = visible<int>(64);
    float *f = visible<float>(64);
    double *d = visible<double>(64);
    const int TILE = 16;

    sized<TILE><<<1, TILE>>>(n);
    RUN();
    EXPECT(n[15], 16);
    launch<32>(n);
    RUN();
    EXPECT(n[31], 32);
    sized<(TILE > 8 ? 8 : 4)><<<1, 8>>>(n);
    RUN();
    EXPECT(n[7], 8);

    typed<float><<<1, 64>>>(f, 1.5f);
    typed<int><<<1, 64>>>(n, 3);
    typed<double><<<1, 64>>>(d, 2.5);
    RUN();
    EXPECT(f[63], 1.5f);
    EXPECT(n[63], 3);
    EXPECT(d[63], 1002.5);

    many<int, 4><<<1, 1>>>(n);
    many<float, 4, 5><<<1, 1>>>(f);
    many<double, 4, 5, true><<<1, 1>>>(d);
    RUN();
    EXPECT(n[0], 402);
    EXPECT(f[0], 405.0f);
    EXPECT(d[0], -405.0);

    applied<int, twice><<<1, 8>>>(n);
    applied<float, twice><<<dim3(1), dim3(8)>>>(f);
    RUN();
    EXPECT(n[7], 14);
    EXPECT(f[7], 14.0f);
    return verdict();
}
