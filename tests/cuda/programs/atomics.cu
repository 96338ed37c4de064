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

__global__ void negative(int *x, long long *l, unsigned *u) {
    int i = (int)threadIdx.x - 64;
    atomicMin(&x[0], i);
    atomicMax(&x[1], -1 - (int)threadIdx.x);
    atomicSub(&x[2], 2);
    atomicSub(u, 3u);
    atomicMin(&l[0], i * (1LL << 40));
    atomicMax(&l[1], -1LL - threadIdx.x);
}

__global__ void inc_dec(unsigned *x, unsigned *seen) {
    atomicAdd(&seen[atomicInc(&x[0], 9)], 1u);      /* 0 .. 9, then 0 again */
    atomicAdd(&seen[16 + atomicDec(&x[1], 6)], 1u); /* 6 .. 0, then 6 again */
}
__global__ void of_the_system(unsigned *x) {
    atomicAdd_system(&x[0], 2u);
    atomicSub_system(&x[1], 1u);
    atomicMin_system(&x[2], threadIdx.x + 1);
    atomicMax_system(&x[3], threadIdx.x);
    atomicInc_system(&x[4], 1000u);
    atomicDec_system(&x[5], 1000u);
    atomicAnd_system(&x[6], ~1u);
    atomicOr_system(&x[7], 4u);
    atomicXor_system(&x[8], 1u);
    atomicExch_system(&x[9], 5u);
    atomicCAS_system(&x[10], 0u, 6u);
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

template <class T> __global__ void in_shared(T *histogram) {
    __shared__ T bins[10];
    if (threadIdx.x < 10) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[(blockIdx.x * blockDim.x + threadIdx.x) % 10], (T)1);
    __syncthreads();
    if (threadIdx.x < 10) atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
}

/* The loops that build other atomics from atomicCAS, and its widths. */
__device__ double add(double *address, double value) {
    unsigned long long *bits = (unsigned long long *)address, old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __double_as_longlong(value + __longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__device__ void maximum(float *address, float value) {
    int *bits = (int *)address, old = *bits;
    while (value > __int_as_float(old)) {
        int assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value));
        if (old == assumed) break;
    }
}

__global__ void cas_loops(double *sum, float *most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    add(sum, 0.5);
    maximum(most, (float)(i * 37 % 1000));
}
__global__ void cas_once(int *x, unsigned *u, unsigned long long *l, unsigned short *s) {
    x[1] = atomicCAS(&x[0], 5, 6);
    x[2] = atomicCAS(&x[0], 5, 7); /* is 6: nothing happens */
    u[1] = atomicCAS(&u[0], 0u, 4000000000u);
    l[1] = atomicCAS(&l[0], 1ULL << 40, 2ULL);
    s[1] = atomicCAS(&s[0], (unsigned short)3, (unsigned short)65535);
}

static void check_cas() {
    double *sum = visible<double>(1);
    float *most = visible<float>(1);
    int *x = visible<int>(3);
    unsigned *u = visible<unsigned>(2);
    unsigned long long *l = visible<unsigned long long>(2);
    unsigned short *s = visible<unsigned short>(2);
    RUN(cas_loops<<<20, 100>>>(sum, most));
    EXPECT(*sum, 1000.0);
    EXPECT(*most, 999.0f);
    x[0] = 5;
    l[0] = 1ULL << 40;
    s[0] = 3;
    RUN(cas_once<<<1, 1>>>(x, u, l, s));
    EXPECT_EACH(x, 6, 5, 6);
    EXPECT(u[0], 4000000000u);
    EXPECT(l[0], 2ULL);
    EXPECT((int)s[0], 65535);
    EXPECT((int)s[1], 3);
}

int main() {
    check_cas();
    int *of_int = visible<int>(10);
    float *of_float = visible<float>(10);
    in_shared<<<BLOCKS, THREADS>>>(of_int);
    RUN(in_shared<<<BLOCKS, THREADS>>>(of_float));
    for (int i = 0; i < 10; ++i) EXPECT(of_int[i] + of_float[i], N / 5.0f);
    check_integers<int>();
    check_integers<unsigned>();
    check_integers<unsigned long long>();

    int *x = visible<int>(4);
    long long *l = visible<long long>(2);
    unsigned *u = visible<unsigned>(4), *seen = visible<unsigned>(32);
    x[1] = l[1] = -1000000;
    u[0] = 1000;
    RUN(negative<<<1, 128>>>(x, l, u));
    EXPECT_EACH(x, -64, -1, -256);
    EXPECT(u[0], 1000u - 3 * 128);
    EXPECT_EACH(l, -64 * (1LL << 40), -1LL);

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

    unsigned *all = visible<unsigned>(11);
    all[1] = all[2] = 100;
    all[6] = 3;
    RUN(of_the_system<<<1, 64>>>(all));
    EXPECT_EACH(all, 128u, 36u, 1u, 63u, 64u, 937u, 2u, 4u, 0u, 5u, 6u);

    float *f = visible<float>(4);
    double *d = visible<double>(2);
    RUN(floats<<<40, 256>>>(f, d));
    EXPECT_EACH(f, 10240, 1, -5120, 7.5);
    EXPECT_EACH(d, 2560, 40 * 32640);
    return verdict();
}
