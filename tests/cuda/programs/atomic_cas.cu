/* atomicCAS: the loops that build other atomics from it, in all its widths. */
#include "check.h"

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

__global__ void loops(double *sum, float *most) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    add(sum, 0.5);
    maximum(most, (float)(i * 37 % 1000));
}
__global__ void once(int *x, unsigned *u, unsigned long long *l, unsigned short *s) {
    x[1] = atomicCAS(&x[0], 5, 6);
    x[2] = atomicCAS(&x[0], 5, 7); /* is 6: nothing happens */
    u[1] = atomicCAS(&u[0], 0u, 4000000000u);
    l[1] = atomicCAS(&l[0], 1ULL << 40, 2ULL);
    s[1] = atomicCAS(&s[0], (unsigned short)3, (unsigned short)65535);
}

int main() {
    double *sum = visible<double>(1);
    float *most = visible<float>(1);
    int *x = visible<int>(3);
    unsigned *u = visible<unsigned>(2);
    unsigned long long *l = visible<unsigned long long>(2);
    unsigned short *s = visible<unsigned short>(2);
    RUN(loops<<<20, 100>>>(sum, most));
    EXPECT(*sum, 1000.0);
    EXPECT(*most, 999.0f);
    x[0] = 5;
    l[0] = 1ULL << 40;
    s[0] = 3;
    RUN(once<<<1, 1>>>(x, u, l, s));
    EXPECT_EACH(x, 6, 5, 6);
    EXPECT(u[0], 4000000000u);
    EXPECT(l[0], 2ULL);
    EXPECT((int)s[0], 65535);
    EXPECT((int)s[1], 3);
    return verdict();
}
