/* Kernels with template parameters that the launch names, in full or up to the defaults, or that
 * its arguments choose; and overloads. */
#include "check.h"

template <int TILE> __global__ void sized(int *out) {
    __shared__ int tile[TILE];
    tile[threadIdx.x] = TILE;
    __syncthreads();
    out[threadIdx.x] = tile[TILE - 1 - threadIdx.x];
}
template <int TILE> void launch(int *out) { sized<TILE><<<1, TILE>>>(out); }

template <typename T> __global__ void typed(T *out, T value) { out[threadIdx.x] = value; }
template <> __global__ void typed<double>(double *out, double value) {
    out[threadIdx.x] = value + 1000;
}

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
template <typename T = int> __global__ void defaulted(int *out) { out[threadIdx.x] = sizeof(T); }
template <int ROWS, typename T> __global__ void half(T *out) { out[threadIdx.x] = ROWS; }
template <class... T> __global__ void pack(int *out, T... x) { out[threadIdx.x] = (x + ...); }

template <typename T> __global__ void scale(const T *in, T *out, T by, long n = 3) {
    if (threadIdx.x < n) out[threadIdx.x] = in[threadIdx.x] * by;
}
namespace named {
template <int BY, typename T> __global__ void scale(const T *const in, T *out) { *out = *in * BY; }
__global__ void scale(const float *x, double *out) { *out = *x * 9; }
} // namespace named
template <typename F, typename T> __global__ void applied_to(F f, const T *in, T *out) {
    *out = f(*in);
}
struct adds {
    int by;
    __device__ int operator()(int x) const { return x + by; }
};
template <typename T> void scale_twice(T *x) {
    scale<<<1, 1>>>(x, x, T(2));
    scale<<<1, 1>>>(x, x, T(2), 1);
}

__global__ void overloaded(int *x, int what) { x[threadIdx.x] = what; }
__global__ void overloaded(int *x, const int *what) { x[threadIdx.x] = what[threadIdx.x] + 1000; }
__global__ void overloaded(int *x) { x[threadIdx.x] = 7; }

int main() {
    int *n = visible<int>(64);
    float *f = visible<float>(64);
    double *d = visible<double>(64);
    const int TILE = 16;

    RUN(launch<32>(n));
    EXPECT(n[31], 32);
    RUN(sized<(TILE > 8 ? 8 : 4)><<<1, 8>>>(n));
    EXPECT(n[7], 8);

    typed<int><<<1, 64>>>(n, 4);
    RUN(typed<double><<<1, 64>>>(d, 2.5));
    EXPECT(n[63], 4);
    EXPECT(d[63], 1002.5);
    typed<<<1, 64>>>(n, 3);
    RUN(typed<<<1, 64>>>(f, 1.5f));
    EXPECT(n[63], 3);
    EXPECT(f[63], 1.5f);

    many<int, 4><<<1, 1>>>(n);
    RUN(many<double, 4, 5, true><<<1, 1>>>(d));
    EXPECT(n[0], 402);
    EXPECT(d[0], -405.0);

    RUN(applied<float, twice><<<1, 8>>>(f));
    EXPECT(f[7], 14.0f);

    RUN(half<7><<<1, 32>>>(f));
    EXPECT(f[31], 7.0f);
    EXPECT(f[32], 1.5f);
    RUN(defaulted<<<1, 64>>>(n));
    EXPECT(n[63], 4);
    RUN(pack<<<1, 1>>>(n, 1, 2.0, 'A'));
    EXPECT(n[0], 68);
    f[0] = f[1] = f[2] = f[3] = 5;
    RUN(scale<<<1, 4>>>(f, f + 0, 2.0f));
    EXPECT(f[2], 10.0f);
    EXPECT(f[3], 5.0f);
    RUN(scale_twice(f));
    EXPECT(f[0], 40.0f);
    EXPECT(f[1], 10.0f);
    RUN(named::scale<3><<<1, 1>>>(f + 1, f));
    EXPECT(f[0], 30.0f);
    RUN(named::scale<<<1, 1>>>(f + 1, d));
    EXPECT(d[0], 90.0);
    n[0] = 1;
    RUN(applied_to<<<1, 1>>>(adds{3}, n, n));
    EXPECT(n[0], 4);
    char small = 5;
    RUN(overloaded<<<1, 64>>>(n, small));
    EXPECT(n[63], 5);
    RUN(overloaded<<<1, 64>>>(n, 5));
    EXPECT(n[63], 5);
    RUN(overloaded<<<1, 64>>>(n, (const int *)n));
    EXPECT(n[63], 1005);
    RUN(overloaded<<<1, 64>>>(n));
    EXPECT(n[63], 7);
    return verdict();
}
