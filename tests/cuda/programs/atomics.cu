/* Atomics of all threads of many blocks on one word, in every overload, in global and shared
 * memory; each returns the old value. */
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
    integers<T><<<BLOCKS, THREADS>>>(x, seen);
    RUN();
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

__global__ void in_shared(int *histogram, const int *in) {
    __shared__ int bins[10];
    if (threadIdx.x < 10) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x < 10) atomicAdd(&histogram[threadIdx.x], bins[threadIdx.x]);
}

int main() {
    check_integers<int>();
    check_integers<unsigned>();
    check_integers<unsigned long long>();

    int *x = visible<int>(4);
    long long *l = visible<long long>(2);
    x[1] = l[1] = -1000000;
    negative<<<1, 128>>>(x, l);
    RUN();
    EXPECT(x[0], -64);
    EXPECT(x[1], -1);
    EXPECT(x[2], -256);
    EXPECT(x[3], -64);
    EXPECT(l[0], -64 * (1LL << 40));
    EXPECT(l[1], -1LL);

    unsigned *u = visible<unsigned>(4), *seen = visible<unsigned>(32);
    u[0] = 1000;
    subtract<<<2, 100>>>(u);
    RUN();
    EXPECT(u[0], 400u);
    u[0] = 0;
    u[1] = 6;
    inc_dec<<<7, 100>>>(u, seen);
    RUN();
    EXPECT(u[0], 0u);
    EXPECT(u[1], 6u);
    for (int i = 0; i < 10; ++i) EXPECT(seen[i], 70u);
    for (int i = 0; i < 7; ++i) EXPECT(seen[16 + i], 100u);
    u[0] = u[1] = 100;
    inc_dec_beyond<<<1, 1>>>(u);
    RUN();
    EXPECT(u[0], 0u);
    EXPECT(u[1], 5u);
    EXPECT(u[2] + u[3], 200u);

    int *histogram = visible<int>(10), *in = visible<int>(N);
    for (int i = 0; i < N; ++i) in[i] = i % 10;
    in_shared<<<BLOCKS, THREADS>>>(histogram, in);
    RUN();
    for (int i = 0; i < 10; ++i) EXPECT(histogram[i], N / 10);
    return verdict();
}
