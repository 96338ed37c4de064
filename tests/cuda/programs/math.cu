/* Mathematical functions and intrinsics in kernels, against values that need no library. */
#include "check.h"
#include <math.h>

__global__ void floats(float *out, float two, float nan) {
    int n = 0;
    out[n++] = ceilf(two + 0.25f);
    out[n++] = floorf(-two - 0.25f);
    out[n++] = ceil(two + 0.5f);
    out[n++] = fabsf(-two);
    out[n++] = sqrtf(two * two);
    out[n++] = fmaxf(two, nan);
    out[n++] = fminf(nan, two);
    out[n++] = powf(two, 10);
    out[n++] = rsqrtf(two * two);
    out[n++] = truncf(-2.75f);
    out[n++] = roundf(2.5f);
    out[n++] = rintf(two + 0.5f);
    out[n++] = fmodf(7.5f, two);
    out[n++] = copysignf(two, -1.0f);
    out[n++] = __fdividef(two * 3, two);
    out[n++] = __saturatef(two);
    out[n++] = exp2f(two + 1);
    out[n++] = abs(-two);
}

__global__ void near_floats(float *out, float one) {
    int n = 0;
    out[n++] = expf(one);
    out[n++] = __expf(one);
    out[n++] = logf(one + 1);
    out[n++] = __logf(one + 1);
    out[n++] = sinf(one);
    out[n++] = __sinf(one);
    out[n++] = __cosf(one);
    out[n++] = __powf(one + 1, 0.5f);
    out[n++] = tanhf(one);
}

__global__ void integers(int *out, int seven, float big) {
    int n = 0;
    out[n++] = __mul24(seven, -3);
    out[n++] = (int)__umul24(7u, 3u);
    out[n++] = __mulhi(1 << 30, seven);
    out[n++] = __popc(seven);
    out[n++] = __clz(seven);
    out[n++] = __clz(0);
    out[n++] = __ffs(seven << 3);
    out[n++] = (int)(__brev((unsigned)seven) >> 24);
    out[n++] = abs(-seven);
    out[n++] = __float2int_rn(2.5f);
    out[n++] = __float2int_rz(-2.75f);
    out[n++] = __float2int_ru(2.25f);
    out[n++] = __float2int_rd(-2.25f);
    out[n++] = __float2int_rn(big);
    out[n++] = __float_as_int(1.0f);
    out[n++] = (int)__int_as_float(0x40400000);
    out[n++] = __popcll(0xFF00FF00FFULL);
    out[n++] = __clzll(1);
    out[n++] = (int)__int2float_rn(seven);
    out[n++] = (int)__float2uint_rn(-big);
}

__global__ void doubles(double *out, double two) {
    out[0] = sqrt(two * two);
    out[1] = pow(two, 10.0);
    out[2] = fma(two, 3.0, 1.0);
    out[3] = ceil(two + 0.1);
    out[4] = __longlong_as_double(__double_as_longlong(two));
    out[5] = fabs(-two);
    out[6] = rsqrt(two * two);
}

int main() {
    float *f = visible<float>(32), *near = visible<float>(32);
    int *i = visible<int>(32);
    double *d = visible<double>(32);
    floats<<<1, 1>>>(f, 2.0f, nanf(""));
    near_floats<<<1, 1>>>(near, 1.0f);
    integers<<<1, 1>>>(i, 7, 1e20f);
    doubles<<<1, 1>>>(d, 2.0);
    RUN();

    const float exact[] = {3, -3, 3, 2, 2, 2, 2, 1024, 0.5f, -2, 3, 2, 1.5f, -2, 3, 1, 8, 2};
    for (size_t n = 0; n < sizeof exact / sizeof *exact; ++n) EXPECT(f[n], exact[n]);
    const double true_values[] = {2.718281828, 2.718281828, 0.693147181, 0.693147181, 0.841470985,
                                  0.841470985, 0.540302306, 1.414213562, 0.761594156};
    for (size_t n = 0; n < sizeof true_values / sizeof *true_values; ++n)
        CHECK(fabs(near[n] - true_values[n]) < 2e-6);
    const int whole[] = {-21, 21, 1,  3,          29,         32, 4,  224, 7, 2,
                         -2,  3,  -3, 2147483647, 0x3F800000, 3,  24, 63,  7, 0};
    for (size_t n = 0; n < sizeof whole / sizeof *whole; ++n) EXPECT(i[n], whole[n]);
    const double wide[] = {2, 1024, 7, 3, 2, 2, 0.5};
    for (size_t n = 0; n < sizeof wide / sizeof *wide; ++n) EXPECT(d[n], wide[n]);
    return verdict();
}
