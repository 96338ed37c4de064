/* __launch_bounds__ and __restrict__ in their usual places; const, volatile, __grid_constant__,
 * __thread. */
#include "check.h"

#define THREADS 128

__global__ void __launch_bounds__(256) before_the_name(int *x) { x[threadIdx.x] = 1; }
__launch_bounds__(THREADS) __global__ void first(int *x) { x[threadIdx.x] = 2; }
__global__ __launch_bounds__(16 * 16, 2) void between(int *x) { x[threadIdx.x] = 3; }
template <int N> __global__ void __launch_bounds__(N) of_template(int *x) { x[threadIdx.x] = N; }

__global__ void restricted(int n, const float *__restrict__ A, const float *__restrict__ B,
                           float *__restrict__ C) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) C[i] = A[i] + B[i];
}
__global__ void other_spelling(float const *__restrict a, float *const __restrict__ b) {
    b[threadIdx.x] = a[threadIdx.x] * 2;
}
__global__ void constants(const int a, const float *const x, volatile float *y) {
    y[threadIdx.x] = x[threadIdx.x] + a;
}
struct parameters {
    int value[10];
};
__global__ void by_value(const __grid_constant__ parameters p, int *x) {
    x[threadIdx.x] = p.value[threadIdx.x];
}

/* In device code __thread means nothing: this is one variable. */
__global__ void counts(int *x) {
    static __thread int calls;
    if (threadIdx.x > 0) goto done;
    x[0] = ++calls;
done:
    return;
}
static int host_counts(bool again) {
    static thread_local int calls;
    static void *const where[] = {&&once, &&more};
    goto *where[again];
more:
    ++calls;
once:
    return ++calls;
}

/* Of a static helper that no code needs nvcc does not say what it calls. */
[[maybe_unused]] static __device__ int unused() { return host_counts(true); }
[[maybe_unused]] static __device__ int of_unused() { return unused() + sizeof unused(); }

int main() {
    EXPECT(host_counts(true) + host_counts(false), 5);
    int *x = visible<int>(1024);
    for (int i = 0; i < 40; ++i) RUN(counts<<<1, 32>>>(x));
    EXPECT(x[0], 40);
    float *a = visible<float>(256), *b = visible<float>(256), *c = visible<float>(256);
    before_the_name<<<1, 256>>>(x);
    first<<<1, THREADS>>>(x + 256);
    between<<<1, 256>>>(x + 512);
    RUN(of_template<64><<<1, 64>>>(x + 768));
    EXPECT(x[255] + x[256 + 127] + x[512 + 255] + x[768 + 63], 1 + 2 + 3 + 64);

    for (int i = 0; i < 256; ++i) a[i] = i;
    restricted<<<2, 128>>>(256, a, a, b);
    RUN(other_spelling<<<1, 256>>>(b, c));
    EXPECT(b[255], 510.0f);
    EXPECT(c[255], 1020.0f);
    RUN(constants<<<1, 256>>>(5, c, b));
    EXPECT(b[255], 1025.0f);
    parameters p;
    for (int i = 0; i < 10; ++i) p.value[i] = i * i;
    RUN(by_value<<<1, 10>>>(p, x));
    EXPECT(x[9], 81);
    return verdict();
}
