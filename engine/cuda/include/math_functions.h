/* CUDA's mathematical functions and intrinsics beyond C's <math.h>
 * (CUDA Math API reference: single precision intrinsics, type casting, integer intrinsics).
 *
 * The fast intrinsics (__expf, __fdividef, ...) are the accurate functions here. */
#ifndef EMULATOR_MATH_FUNCTIONS_H
#define EMULATOR_MATH_FUNCTIONS_H
#include <limits.h>
#include <math.h>
#include <string.h>

typedef unsigned int uint;
typedef unsigned short ushort;

/* min and max for every pair of arithmetic types that CUDA's header overloads. For float and
 * double a NaN gives way to a number, as fminf and fmaxf have it. */
#define EMULATOR_MIN_MAX(type, a_type, b_type)                                                     \
    static inline __host__ __device__ type min(a_type a, b_type b) {                               \
        return (type)a < (type)b ? (type)a : (type)b;                                              \
    }                                                                                              \
    static inline __host__ __device__ type max(a_type a, b_type b) {                               \
        return (type)a > (type)b ? (type)a : (type)b;                                              \
    }
EMULATOR_MIN_MAX(int, int, int)
EMULATOR_MIN_MAX(unsigned, unsigned, unsigned)
EMULATOR_MIN_MAX(unsigned, int, unsigned)
EMULATOR_MIN_MAX(unsigned, unsigned, int)
EMULATOR_MIN_MAX(long, long, long)
EMULATOR_MIN_MAX(unsigned long, unsigned long, unsigned long)
EMULATOR_MIN_MAX(unsigned long, long, unsigned long)
EMULATOR_MIN_MAX(unsigned long, unsigned long, long)
EMULATOR_MIN_MAX(long long, long long, long long)
EMULATOR_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
EMULATOR_MIN_MAX(unsigned long long, long long, unsigned long long)
EMULATOR_MIN_MAX(unsigned long long, unsigned long long, long long)
static inline __host__ __device__ float min(float a, float b) { return fminf(a, b); }
static inline __host__ __device__ float max(float a, float b) { return fmaxf(a, b); }
static inline __host__ __device__ double min(double a, double b) { return fmin(a, b); }
static inline __host__ __device__ double max(double a, double b) { return fmax(a, b); }
static inline __host__ __device__ double min(float a, double b) { return fmin(a, b); }
static inline __host__ __device__ double max(float a, double b) { return fmax(a, b); }
static inline __host__ __device__ double min(double a, float b) { return fmin(a, b); }
static inline __host__ __device__ double max(double a, float b) { return fmax(a, b); }

static inline __host__ __device__ float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline __host__ __device__ double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline __device__ float __saturatef(float x) {
    return !(x > 0.0f) ? 0.0f : x > 1.0f ? 1.0f : x;
}
/* These are macros because glibc's <math.h> has declared functions of the same names. */
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, (x))
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __powf(x, y) powf((x), (y))
static inline __device__ float __fdividef(float x, float y) { return x / y; }

/* The _rn forms round once for each operation: the compiler must not join a product and a sum
 * into one fused operation, which a volatile result keeps it from. */
static inline __device__ float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline __device__ double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
#define EMULATOR_ROUNDED(name, type, sign)                                                         \
    static inline __device__ type name(type x, type y) {                                           \
        volatile type result = x sign y;                                                           \
        return result;                                                                             \
    }
EMULATOR_ROUNDED(__fmul_rn, float, *)
EMULATOR_ROUNDED(__fadd_rn, float, +)
EMULATOR_ROUNDED(__fsub_rn, float, -)
EMULATOR_ROUNDED(__dmul_rn, double, *)
EMULATOR_ROUNDED(__dadd_rn, double, +)
static inline __device__ float __fdiv_rn(float x, float y) { return x / y; }
static inline __device__ float __frcp_rn(float x) { return 1.0f / x; }
static inline __device__ float __fsqrt_rn(float x) { return sqrtf(x); }
static inline __device__ float __frsqrt_rn(float x) { return (float)(1.0 / sqrt((double)x)); }

/* Conversions saturate and turn NaN into 0, as the GPU's do (C++ leaves both undefined). */
static inline __device__ int emulator_to_int(double x) {
    return x >= 2147483647.0 ? INT_MAX : x <= -2147483648.0 ? INT_MIN : x == x ? (int)x : 0;
}
static inline __device__ unsigned emulator_to_uint(double x) {
    return x >= 4294967295.0 ? UINT_MAX : x > 0.0 ? (unsigned)x : 0u;
}
static inline __device__ int __float2int_rn(float x) { return emulator_to_int(rintf(x)); }
static inline __device__ int __float2int_rz(float x) { return emulator_to_int(truncf(x)); }
static inline __device__ int __float2int_ru(float x) { return emulator_to_int(ceilf(x)); }
static inline __device__ int __float2int_rd(float x) { return emulator_to_int(floorf(x)); }
static inline __device__ unsigned __float2uint_rn(float x) { return emulator_to_uint(rintf(x)); }
static inline __device__ unsigned __float2uint_rz(float x) { return emulator_to_uint(truncf(x)); }
static inline __device__ unsigned __float2uint_ru(float x) { return emulator_to_uint(ceilf(x)); }
static inline __device__ unsigned __float2uint_rd(float x) { return emulator_to_uint(floorf(x)); }
static inline __device__ int __double2int_rn(double x) { return emulator_to_int(rint(x)); }
static inline __device__ int __double2int_rz(double x) { return emulator_to_int(trunc(x)); }
static inline __device__ float __int2float_rn(int x) { return (float)x; }
static inline __device__ float __uint2float_rn(unsigned x) { return (float)x; }
static inline __device__ float __double2float_rn(double x) { return (float)x; }

template <class To, class From> static inline __device__ To emulator_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "reinterpreted values have one size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
static inline __device__ int __float_as_int(float x) { return emulator_bits<int>(x); }
static inline __device__ unsigned __float_as_uint(float x) { return emulator_bits<unsigned>(x); }
static inline __device__ float __int_as_float(int x) { return emulator_bits<float>(x); }
static inline __device__ float __uint_as_float(unsigned x) { return emulator_bits<float>(x); }
static inline __device__ long long __double_as_longlong(double x) {
    return emulator_bits<long long>(x);
}
static inline __device__ double __longlong_as_double(long long x) {
    return emulator_bits<double>(x);
}

static inline __device__ int emulator_low24(int x) {
    return (int)(((unsigned)x & 0xFFFFFFu) ^ 0x800000u) - 0x800000;
}
static inline __device__ int __mul24(int x, int y) {
    return (int)(unsigned)((long long)emulator_low24(x) * emulator_low24(y));
}
static inline __device__ unsigned __umul24(unsigned x, unsigned y) {
    return (x & 0xFFFFFF) * (y & 0xFFFFFF);
}
static inline __device__ int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
static inline __device__ unsigned __umulhi(unsigned x, unsigned y) {
    return (unsigned)(((unsigned long long)x * y) >> 32);
}
static inline __device__ int __popc(unsigned x) { return __builtin_popcount(x); }
static inline __device__ int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline __device__ int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
static inline __device__ int __clzll(long long x) {
    return x ? __builtin_clzll((unsigned long long)x) : 64;
}
static inline __device__ int __ffs(int x) { return __builtin_ffs(x); }
static inline __device__ int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline __device__ unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
    return __builtin_bswap32(x);
}
#endif
