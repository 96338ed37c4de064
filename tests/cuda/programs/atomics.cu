/* Atomics of all threads of many blocks on one word, in every overload, in global and shared
 * memory; each returns the old value. (atomicAdd of double: compute capability 6.0 and later.) */
#include "check.h"

enum { BLOCKS = 20, THREADS = 128, N = BLOCKS * THREADS };

template <class T> __global__ void integers(T *x, unsigned char *seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    seen[(int)atomicAdd(&x[0], (T)1)] = 1; /* every old value once */
    atomicMin(&x[1], (T)(i + 3));
    atomicMax(&x[2], (T)i);
    atomicOr(&x[3], (T)1 << i % 30);
    atomicAnd(&x[4], ~((T)1 << i % 30));
    atomicXor(&x[5], (T)i);
    T old = atomicExch(&x[6], (T)(i + 1));
    atomicAdd(&x[7], old); /* all but the last value were somebody's old one */
}

template <class T> static void check_integers() {
    T *x = visible<T>(8);
    unsigned char *seen = visible<unsigned char>(N);
    x[1] = 1000000;
    x[4] = (T)-1;
    RUN(integers<T><<<BLOCKS, THREADS>>>(x, seen));
    EXPECT(x[0], (T)N);
    for (int i = 0; i < N; ++i) EXPECT((int)seen[i], 1);
    EXPECT(x[1], (T)3);
    EXPECT(x[2], (T)(N - 1));
    EXPECT(x[3], (T)0x3FFFFFFF);
    EXPECT(x[4], (T) ~(T)0x3FFFFFFF);
    T all = 0;
    for (int i = 0; i < N; ++i) all ^= (T)i;
    EXPECT(x[5], all);
    EXPECT(x[6] + x[7], (T)(N * (N + 1) / 2));
}

__global__ void negative(int *x, long long *l) {
    int i = (int)threadIdx.x - 64;
    atomicMin(&x[0], i);
    atomicMax(&x[1], -1 - (int)threadIdx.x);
    atomicSub(&x[2], 2);
    atomicAdd(&x[3], i);
    atomicMin(&l[0], i * (1LL << 40));
    atomicMax(&l[1], -1LL - threadIdx.x);
}
__global__ void subtract(unsigned *x) { atomicSub(x, 3u); }

__global__ void inc_dec(unsigned *x, unsigned *seen) {
    atomicAdd(&seen[atomicInc(&x[0], 9)], 1u);      /* 0 .. 9, then 0 again */
    atomicAdd(&seen[16 + atomicDec(&x[1], 6)], 1u); /* 6 .. 0, then 6 again */
}
__global__ void inc_dec_beyond(unsigned *x) {
    x[2] = atomicInc(&x[0], 5); /* 100 is above the limit: becomes 0 */
    x[3] = atomicDec(&x[1], 5); /* 100 is above the limit: becomes 5 */
}

__global__ void floats(float *f, double *d) {
    float old = atomicAdd(&f[0], 1.0f);
    if (old == 0) atomicAdd(&f[1], 1.0f); /* exactly one thread found the zero */
    atomicAdd(f + 2, -0.5f);
    atomicAdd(&d[0], 0.25);
    atomicAdd(&d[1], (double)threadIdx.x);
    atomicExch(&f[3], 7.5f);
}

template <class T> __global__ void in_shared(T *histogram, const int *in) {
    __shared__ T bins[10];
    if (threadIdx.x < 10) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x]], (T)1);
    __syncthreads();
    if (threadIdx.x < 10) atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
}

template <class T> static void check_histogram() {
    T *histogram = visible<T>(10);
    int *in = visible<int>(N);
    for (int i = 0; i < N; ++i) in[i] = i % 10;
    RUN(in_shared<T><<<BLOCKS, THREADS>>>(histogram, in));
    for (int i = 0; i < 10; ++i) EXPECT(histogram[i], (T)(N / 10));
}

int main() {
    check_histogram<int>();
    check_histogram<float>();
    check_integers<int>();
    check_integers<unsigned>();
    check_integers<unsigned long long>();

    int *x = visible<int>(4);
    long long *l = visible<long long>(2);
    x[1] = l[1] = -1000000;
    RUN(negative<<<1, 128>>>(x, l));
    EXPECT_EACH(x, -64, -1, -256, -64);
    EXPECT_EACH(l, -64 * (1LL << 40), -1LL);

    unsigned *u = visible<unsigned>(4), *seen = visible<unsigned>(32);
    u[0] = 1000;
    RUN(subtract<<<2, 100>>>(u));
    EXPECT(u[0], 400u);
    u[0] = 0;
    u[1] = 6;
    RUN(inc_dec<<<7, 100>>>(u, seen));
    EXPECT_EACH(u, 0u, 6u);
    for (int i = 0; i < 10; ++i) EXPECT(seen[i], 70u);
    for (int i = 0; i < 7; ++i) EXPECT(seen[16 + i], 100u);
    u[0] = u[1] = 100;
    RUN(inc_dec_beyond<<<1, 1>>>(u));
    EXPECT_EACH(u, 0u, 5u);
    EXPECT(u[2] + u[3], 200u);

    float *f = visible<float>(4);
    double *d = visible<double>(2);
    RUN(floats<<<40, 256>>>(f, d));
    EXPECT_EACH(f, 10240, 1, -5120, 7.5);
    EXPECT_EACH(d, 2560, 40 * 32640);
    return verdict();
}
