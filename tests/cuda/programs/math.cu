/* Mathematical functions and intrinsics in kernels, against values that need no library; fused and
 * unfused arithmetic: fmaf rounds once, __fmul_rn followed by __fadd_rn twice, whatever the
 * compiler may contract. And min and max in every pair of types that CUDA overloads them for, on
 * both sides; and C++'s, which nvcc's headers bring along. */
#include "check.h"
#include <math.h>

__global__ void floats(float *out, float two, float nan) {
    store(out, ceilf(two + 0.25f), floorf(-two - 0.25f), ceil(two + 0.5f), fabsf(-two),
          sqrtf(two * two), fmaxf(two, nan), fminf(nan, two), powf(two, 10), rsqrtf(two * two),
          truncf(-2.75f), roundf(2.5f), rintf(two + 0.5f), fmodf(7.5f, two), copysignf(two, -1.0f),
          __fdividef(two * 3, two), __saturatef(two), exp2f(two + 1), abs(-two));
}

__global__ void near_floats(float *out, float one) {
    float sine, cosine;
    __sincosf(one, &sine, &cosine);
    store(out, expf(one), __expf(one), logf(one + 1), __logf(one + 1), sinf(one), __sinf(one),
          __cosf(one), __powf(one + 1, 0.5f), tanhf(one), sine, cosine);
}

__global__ void integers(int *out, int seven, float big) {
    store(out, __mul24(seven, -3), (int)__umul24(7u, 3u), __mulhi(1 << 30, seven), __popc(seven),
          __clz(seven), __clz(0), __ffs(seven << 3), (int)(__brev((unsigned)seven) >> 24),
          abs(-seven), __float2int_rn(2.5f), __float2int_rz(-2.75f), __float2int_ru(2.25f),
          __float2int_rd(-2.25f), __float2int_rn(big), __float_as_int(1.0f),
          (int)__int_as_float(0x40400000), __popcll(0xFF00FF00FFULL), __clzll(1),
          (int)__int2float_rn(seven), (int)__float2uint_rn(-big), (int)__umul64hi(~0ULL, 8),
          (int)__mul64hi(-(1LL << 62), 8), __float2int_rn(__int_as_float(0x7FC00000 + seven)),
          __double2int_rn(__int_as_float(0x7FC00000 + seven)),
          __double2int_rz(__int_as_float(0x7FC00000 + seven)));
}

__global__ void bits(unsigned *out, unsigned x, unsigned y) {
    store(out, (unsigned)(__brevll(x) >> 32), (unsigned)__brevll(1), __byte_perm(x, y, 0x7531),
          __byte_perm(x, y, 0xFFFF8064), __funnelshift_l(x, y, 36), __funnelshift_r(x, y, 36),
          __funnelshift_l(x, y, 32), __funnelshift_r(x, y, 32), __funnelshift_lc(x, y, 36),
          __funnelshift_rc(x, y, 36), __uhadd(x, ~0u), __urhadd(x, ~0u), (unsigned)__hadd(-3, -4),
          (unsigned)__rhadd(-3, -4), umin(x, 9), umax(x, 9), (unsigned)llmin(-1, x),
          (unsigned)llmax(3, -1LL), __sad(INT_MIN, INT_MAX, 2), __usad(3, y, 1), __dp4a(x, y, 5u),
          (unsigned)__dp4a((int)x, (int)y, -5));
}

__global__ void more_floats(float *out, float one) {
    store(out, sinpif(one), cospif(one), sinpif(one / 2), cospif(1.5f * one), sinpif(one / 6),
          rcbrtf(8 * one), norm3df(2, 3, 6 * one), norm4df(1e30f, 1e30f, 1e30f, one * 1e30f),
          normcdff(one - 1), fdividef(one, 4), rnorm3df(2, 3, 6 * one), rhypotf(3, 4 * one),
          __ll2float_rn(1LL << 40), __ull2float_rn(3));
}

__global__ void more_doubles(double *out, double one) {
    store(out, sinpi(-2.5 * one), cospi(one), rcbrt(8 * one), norm3d(1, 2, 2 * one),
          norm4d(1, 1, 1, one), normcdf(one - 1), __dsub_rn(one, 3), __ddiv_rn(one, 8),
          __drcp_rn(4 * one), __dsqrt_rn(9 * one), rnorm3d(2, 3, 6), __int2double_rn(-2),
          __uint2double_rn(~0u), __ll2double_rn(-7), __ull2double_rn(7));
}

__global__ void doubles(double *out, double two) {
    store(out, sqrt(two * two), pow(two, 10.0), fma(two, 3.0, 1.0), ceil(two + 0.1),
          __longlong_as_double(__double_as_longlong(two)), fabs(-two), rsqrt(two * two));
}

__global__ void round_each(float *out, float a, float b, float c) {
    store(out, fmaf(a, b, c), __fmaf_rn(a, b, c), __fadd_rn(__fmul_rn(a, b), c),
          __fmul_rn(a, b) + c, __fsub_rn(__fmul_rn(a, b), -c), __fdiv_rn(a, 3.0f),
          __fsqrt_rn(a * 2), __frcp_rn(a * 3), fma(a, b, c));
}

__global__ void round_each_double(double *out, double a, double b, double c) {
    store(out, fma(a, b, c), __fma_rn(a, b, c), __dadd_rn(__dmul_rn(a, b), c));
}

static void functions() {
    float *f = visible<float>(32), *near = visible<float>(32);
    int *i = visible<int>(32);
    double *d = visible<double>(32);
    floats<<<1, 1>>>(f, 2.0f, nanf(""));
    near_floats<<<1, 1>>>(near, 1.0f);
    integers<<<1, 1>>>(i, 7, 1e20f);
    RUN(doubles<<<1, 1>>>(d, 2.0));

    EXPECT_EACH(f, 3, -3, 3, 2, 2, 2, 2, 1024, 0.5f, -2, 3, 2, 1.5f, -2, 3, 1, 8, 2);
    const double true_values[] = {2.718281828, 2.718281828, 0.693147181, 0.693147181,
                                  0.841470985, 0.841470985, 0.540302306, 1.414213562,
                                  0.761594156, 0.841470985, 0.540302306};
    for (size_t n = 0; n < sizeof true_values / sizeof *true_values; ++n)
        CHECK(fabs(near[n] - true_values[n]) < 2e-6);
    EXPECT_EACH(i, -21, 21, 1, 3, 29, 32, 4, 224, 7, 2, -2, 3, -3, 2147483647, 0x3F800000, 3, 24,
                63, 7, 0, 7, -2, 0, INT_MIN, INT_MIN);
    EXPECT_EACH(d, 2, 1024, 7, 3, 2, 2, 0.5);

    unsigned *u = visible<unsigned>(32);
    bits<<<1, 1>>>(u, 0x89ABCDEFu, 0x01234567u);
    more_floats<<<1, 1>>>(near, 1);
    RUN(more_doubles<<<1, 1>>>(d, 1));
    EXPECT_EACH(u, 0xF7B3D591u, 0, 0x014589CDu, 0xEFEF2367u, 0x12345678u, 0x789ABCDEu, 0x01234567u,
                0x89ABCDEFu, 0x89ABCDEFu, 0x01234567u, 0xC4D5E6F7u, 0xC4D5E6F7u, (unsigned)-4,
                (unsigned)-3, 9u, 0x89ABCDEFu, ~0u, 3u, 1u, 0x01234565u,
                0x89 * 1u + 0xAB * 0x23 + 0xCD * 0x45 + 0xEF * 0x67 + 5,
                (unsigned)(-119 - 85 * 0x23 - 51 * 0x45 - 17 * 0x67 - 5));
    const double values[] = {0, -1, 1, 0, 0.5, 0.5, 7, 2e30, 0.5, 0.25, 1.0 / 7, 0.2, 0x1p40, 3};
    for (size_t n = 0; n < sizeof values / sizeof *values; ++n)
        CHECK(fabs(near[n] - values[n]) <= 1e-6 * fabs(values[n]));
    EXPECT_EACH(d, -1, -1, 0.5, 3, 2, 0.5, -2, 0.125, 0.25, 3, 1.0 / 7, -2, 4294967295.0, -7, 7);

    /* (1+e)(1-e) - 1 = -e^2, which a separate product rounds away. */
    const float e = ldexpf(1, -13);
    const double tiny = ldexp(1, -28);
    round_each<<<1, 1>>>(f, 1 + e, 1 - e, -1);
    RUN(round_each_double<<<1, 1>>>(d, 1 + tiny, 1 - tiny, -1));
    EXPECT_EACH(f, -e * e, -e * e, 0, 0, 0, (1 + e) / 3, sqrtf((1 + e) * 2), 1 / ((1 + e) * 3),
                -e * e);
    EXPECT_EACH(d, -tiny * tiny, -tiny * tiny, 0);
}

template <class A, class B> struct same_type { static const bool value = false; };
template <class A> struct same_type<A, A> { static const bool value = true; };
#define TYPE_OF(expression, type) CHECK((same_type<decltype(expression), type>::value))

__global__ void on_device(double *out, int i, unsigned u, long long l, float f, double d) {
    store(out, min(i, 7), max(i, 7), max(u, 3u), min(u, i), max(i, u), min(l, 7LL), max(f, 2.5f),
          min(f, 2.5f), max(f, d), min(d, f), min(d, 0.25),
          max(f, 0.0f / (f - f)) /* NaN gives way to the number */, min(blockDim.x, 16),
          max(threadIdx.x, 4u), max((size_t)5, (size_t)6));
}

static void smaller_and_larger() {
    CHECK(std::min(4, std::numeric_limits<int>::max()) == 4);
    double *out = visible<double>(16);
    RUN(on_device<<<1, 1>>>(out, -5, 4000000000u, -1099511627776LL, 1.5f, 3.25));
    EXPECT_EACH(out, -5, 7, 4000000000.0, 4000000000.0, 4294967291.0, -1099511627776.0, 2.5, 1.5,
                3.25, 1.5, 0.25, 1.5, 1, 4, 6);

    int i = 3;
    unsigned u = 4;
    long l = 5;
    TYPE_OF(min(i, i), int);
    TYPE_OF(max(i, u), unsigned);
    TYPE_OF(max(l, l), long);
    TYPE_OF(min(1.0f, 2.0f), float);
    TYPE_OF(min(1.0f, 2.0), double);
    EXPECT(min(i, 4) + max(i, 4), 7);
    EXPECT(max(u, 3u), 4u);
    EXPECT(min(l, 9L), 5L);
    EXPECT(max(2.5f, 1.5f), 2.5f);
}

int main() {
    functions();
    smaller_and_larger();
    return verdict();
}
