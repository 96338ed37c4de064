/* What device code uses: built-in variables, barriers, warp operations, atomics (CUDA C++
 * Programming Guide, "C++ Language Extensions"), mathematical functions.
 *
 * Each CUDA thread is a fiber and a block's fibers share one OS thread, so a thread runs until it
 * waits: at a barrier, at a warp operation, or in a spin (a compare-and-swap that fails). */
#ifndef EMULATOR_DEVICE_FUNCTIONS_H
#define EMULATOR_DEVICE_FUNCTIONS_H
#include "barrier.h"
#include "vector_types.h"
#include <limits.h>
#include <math.h>
#include <string.h>

extern "C" {
/* Constant for a thread as long as it lives; the runtime sets them at each change of thread. */
extern __thread const uint3 threadIdx;
extern __thread const uint3 blockIdx;
extern const dim3 blockDim;
extern const dim3 gridDim;

struct emulator_votes emulator_barrier_vote(int predicate, unsigned place);
const struct emulator_warp_values *emulator_warp_exchange(unsigned mask, emulator_u64 value);
unsigned emulator_warp_active(unsigned place);
void emulator_spin(void);
emulator_u64 emulator_uses_old(void) __attribute__((pure, nothrow));
void emulator_trap(void) __attribute__((noreturn));
long long emulator_clock(void);
}

static const int warpSize = 32;

#define EMULATOR_DEVICE static inline __device__

/* --- barriers ------------------------------------------------------------------------------- */

EMULATOR_DEVICE void __syncthreads(void) { emulator_barrier_here<__COUNTER__>(); }
/* Barriers at two places have to stay two, though both branches of an if end in one: the checker
 * names their lines. The same in all builds, so that one text is what is checked and what is run.
 */
#define __syncthreads()                                                                            \
    __extension__({                                                                                \
        ::emulator_different<__COUNTER__>();                                                       \
        ::emulator_barrier_here<__COUNTER__>();                                                    \
        ::emulator_different<__COUNTER__>();                                                       \
    })
/* An instruction that differs from all others; a macro of this file, not an asm of the student's.
 */
template <int number> EMULATOR_DEVICE __attribute__((always_inline)) void emulator_different(void) {
    __asm__ volatile("" : : "i"(number));
}
EMULATOR_DEVICE int __syncthreads_count(int predicate, unsigned number = __COUNTER__) {
    return (int)emulator_barrier_vote(predicate, EMULATOR_PLACE(number)).yes;
}
EMULATOR_DEVICE int __syncthreads_and(int predicate, unsigned number = __COUNTER__) {
    emulator_votes votes = emulator_barrier_vote(predicate, EMULATOR_PLACE(number));
    return votes.yes == votes.arrived;
}
EMULATOR_DEVICE int __syncthreads_or(int predicate, unsigned number = __COUNTER__) {
    return emulator_barrier_vote(predicate, EMULATOR_PLACE(number)).yes != 0;
}
#define __syncthreads_count(...) __syncthreads_count(__VA_ARGS__, __COUNTER__)
#define __syncthreads_and(...) __syncthreads_and(__VA_ARGS__, __COUNTER__)
#define __syncthreads_or(...) __syncthreads_or(__VA_ARGS__, __COUNTER__)
EMULATOR_DEVICE void __syncwarp(unsigned mask = 0xFFFFFFFFu) { emulator_warp_exchange(mask, 0); }

/* Of different strength, so that the checker knows them apart. */
EMULATOR_DEVICE void __threadfence_block(void) { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
EMULATOR_DEVICE void __threadfence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
EMULATOR_DEVICE void __threadfence_system(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
EMULATOR_DEVICE void __nanosleep(unsigned) { emulator_spin(); }
EMULATOR_DEVICE void __trap(void) { emulator_trap(); }
EMULATOR_DEVICE long long clock64(void) { return emulator_clock(); }

/* --- warps ---------------------------------------------------------------------------------- */

/* A warp is 32 threads of consecutive linear index, x fastest. */
EMULATOR_DEVICE unsigned emulator_lane(void) {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

/* The value of lane `source`, or this thread's own if `keep`. CUDA leaves undefined what a lane
 * that takes no part would give; here that is a NaN, so that it cannot pass for a result. The
 * callers' + makes an int of what is smaller, as CUDA's overloads do. */
template <class T>
EMULATOR_DEVICE T emulator_shuffle(unsigned mask, T value, unsigned source, bool keep) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
    emulator_u64 bits = 0;
    memcpy(&bits, &value, sizeof value);
    const emulator_warp_values *warp = emulator_warp_exchange(mask, bits);
    if (keep) return value;
    bits = warp->lanes >> source & 1 ? warp->value[source] : 0x7FF393937F939393u;
    memcpy(&value, &bits, sizeof value);
    return value;
}
template <class T>
EMULATOR_DEVICE auto __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    unsigned base = emulator_lane() & ~((unsigned)width - 1);
    return emulator_shuffle(mask, +value, base + ((unsigned)source & ((unsigned)width - 1)), false);
}
template <class T>
EMULATOR_DEVICE auto __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    unsigned lane = emulator_lane(), base = lane & ~((unsigned)width - 1);
    delta %= 32; /* as on a GPU */
    return emulator_shuffle(mask, +value, (lane - delta) & 31, delta > lane - base);
}
template <class T>
EMULATOR_DEVICE auto __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    unsigned lane = emulator_lane(), left = (unsigned)width - 1 - (lane & ((unsigned)width - 1));
    delta %= 32;
    return emulator_shuffle(mask, +value, (lane + delta) & 31, delta > left);
}
template <class T>
EMULATOR_DEVICE auto __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
    unsigned lane = emulator_lane(), end = (lane & ~((unsigned)width - 1)) + (unsigned)width;
    unsigned source = lane ^ ((unsigned)lane_mask & 31);
    return emulator_shuffle(mask, +value, source, source >= end);
}

EMULATOR_DEVICE unsigned __ballot_sync(unsigned mask, int predicate) {
    const emulator_warp_values *warp = emulator_warp_exchange(mask, predicate != 0);
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        ballot |= (unsigned)(warp->lanes >> lane & 1 && warp->value[lane]) << lane;
    return ballot;
}
EMULATOR_DEVICE int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}
EMULATOR_DEVICE int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, !predicate) == 0;
}
/* A macro, so that each place in the text has its own number: lanes in different branches do not
 * count together, though both branches call it. */
#define __activemask() emulator_warp_active(__COUNTER__)

/* The lanes with this thread's value, of those that take part. */
template <class T>
EMULATOR_DEVICE unsigned emulator_match(unsigned mask, T value, unsigned *lanes) {
    static_assert(sizeof value == 4 || sizeof value == 8, "matches compare 4 or 8 bytes");
    emulator_u64 bits = 0;
    memcpy(&bits, &value, sizeof value);
    const emulator_warp_values *warp = emulator_warp_exchange(mask, bits);
    unsigned same = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        same |= (unsigned)(warp->lanes >> lane & 1 && warp->value[lane] == bits) << lane;
    *lanes = warp->lanes;
    return same;
}
template <class T> EMULATOR_DEVICE unsigned __match_any_sync(unsigned mask, T value) {
    unsigned lanes;
    return emulator_match(mask, +value, &lanes);
}
template <class T> EMULATOR_DEVICE unsigned __match_all_sync(unsigned mask, T value, int *all) {
    unsigned lanes, same = emulator_match(mask, +value, &lanes);
    *all = same == lanes;
    return *all ? lanes : 0;
}

#define EMULATOR_REDUCE(name, type, combine)                                                       \
    EMULATOR_DEVICE type name(unsigned mask, type value) {                                         \
        const emulator_warp_values *warp = emulator_warp_exchange(mask, (emulator_u64)value);      \
        type result = value;                                                                       \
        for (unsigned lane = 0; lane < 32; ++lane)                                                 \
            if (warp->lanes >> lane & 1 && lane != emulator_lane()) {                              \
                type other = (type)warp->value[lane];                                              \
                result = (combine);                                                                \
            }                                                                                      \
        return result;                                                                             \
    }
EMULATOR_REDUCE(__reduce_add_sync, unsigned, result + other)
EMULATOR_REDUCE(__reduce_min_sync, unsigned, other < result ? other : result)
EMULATOR_REDUCE(__reduce_max_sync, unsigned, other > result ? other : result)
EMULATOR_REDUCE(__reduce_and_sync, unsigned, result &other)
EMULATOR_REDUCE(__reduce_or_sync, unsigned, result | other)
EMULATOR_REDUCE(__reduce_xor_sync, unsigned, result ^ other)
EMULATOR_DEVICE int __reduce_add_sync(unsigned mask, int value) {
    return (int)__reduce_add_sync(mask, (unsigned)value);
}
EMULATOR_REDUCE(__reduce_min_sync, int, other < result ? other : result)
EMULATOR_REDUCE(__reduce_max_sync, int, other > result ? other : result)

/* --- loads and stores with a cache hint: plain ones here -------------------------------------- */

template <class T> EMULATOR_DEVICE T __ldg(const T *address) { return *address; }
template <class T> EMULATOR_DEVICE T __ldca(const T *address) { return *address; }
template <class T> EMULATOR_DEVICE T __ldcg(const T *address) { return *address; }
template <class T> EMULATOR_DEVICE T __ldcs(const T *address) { return *address; }
template <class T> EMULATOR_DEVICE T __ldlu(const T *address) { return *address; }
template <class T> EMULATOR_DEVICE T __ldcv(const T *address) { return *address; }
template <class T> EMULATOR_DEVICE void __stwb(T *address, T value) { *address = value; }
template <class T> EMULATOR_DEVICE void __stwt(T *address, T value) { *address = value; }
template <class T> EMULATOR_DEVICE void __stcg(T *address, T value) { *address = value; }
template <class T> EMULATOR_DEVICE void __stcs(T *address, T value) { *address = value; }

/* --- atomics --------------------------------------------------------------------------------- */

/* Each returns the old value. An operation that changes nothing is how a thread waits for another
 * (`while (atomicCAS(&lock, 0, 1));`), so it lets the others run.
 *
 * An exchange is a store where its result is not used: compilers then take out the call of
 * emulator_uses_old(), which is 0. They see that only where the exchange is inlined. */
#define EMULATOR_INLINE EMULATOR_DEVICE __attribute__((always_inline))
#define EMULATOR_ATOMIC(name, type, builtin, exchanges)                                            \
    EMULATOR_INLINE type name(type *address, type value) {                                         \
        if (exchanges) return atomicExch(address, value);                                          \
        if (value == 0) emulator_spin();                                                           \
        return builtin(address, value, __ATOMIC_RELAXED);                                          \
    }
#define EMULATOR_ATOMIC_LOOP(name, type, as, next)                                                 \
    EMULATOR_DEVICE type name(type *address, type value) {                                         \
        as seen, wanted;                                                                           \
        __atomic_load((as *)address, &seen, __ATOMIC_RELAXED);                                     \
        type old, fresh;                                                                           \
        do {                                                                                       \
            memcpy(&old, &seen, sizeof old);                                                       \
            fresh = (next);                                                                        \
            memcpy(&wanted, &fresh, sizeof wanted);                                                \
        } while (!__atomic_compare_exchange((as *)address, &seen, &wanted, true, __ATOMIC_RELAXED, \
                                            __ATOMIC_RELAXED));                                    \
        return old;                                                                                \
    }
#define EMULATOR_ATOMIC_EXCHANGE(type, as)                                                         \
    EMULATOR_INLINE type atomicExch(type *address, type value) {                                   \
        const as used = (as)emulator_uses_old(), fresh = __builtin_bit_cast(as, value);            \
        const as old = __atomic_exchange_n((as *)address, fresh, __ATOMIC_RELAXED);                \
        if (old == fresh) emulator_spin();                                                         \
        return __builtin_bit_cast(type, old | used);                                               \
    }
#define EMULATOR_ATOMIC_CAS(type)                                                                  \
    EMULATOR_DEVICE type atomicCAS(type *address, type compare, type value) {                      \
        type old = compare;                                                                        \
        if (!__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_RELAXED,            \
                                         __ATOMIC_RELAXED))                                        \
            emulator_spin();                                                                       \
        return old;                                                                                \
    }
#define EMULATOR_ATOMIC_INTEGER(type)                                                              \
    EMULATOR_ATOMIC_EXCHANGE(type, type)                                                           \
    EMULATOR_ATOMIC(atomicAdd, type, __atomic_fetch_add, false)                                    \
    EMULATOR_ATOMIC(atomicOr, type, __atomic_fetch_or, value == (type)-1)                          \
    EMULATOR_ATOMIC(atomicXor, type, __atomic_fetch_xor, false)                                    \
    EMULATOR_ATOMIC(atomicAnd, type, __atomic_fetch_and, value == 0)                               \
    EMULATOR_ATOMIC_LOOP(atomicMin, type, type, value < old ? value : old)                         \
    EMULATOR_ATOMIC_LOOP(atomicMax, type, type, value > old ? value : old)                         \
    EMULATOR_ATOMIC_CAS(type)

EMULATOR_ATOMIC_INTEGER(int)
EMULATOR_ATOMIC_INTEGER(unsigned)
EMULATOR_ATOMIC_INTEGER(unsigned long long)
EMULATOR_ATOMIC_LOOP(atomicMin, long long, long long, value < old ? value : old)
EMULATOR_ATOMIC_LOOP(atomicMax, long long, long long, value > old ? value : old)
EMULATOR_ATOMIC(atomicSub, int, __atomic_fetch_sub, false)
EMULATOR_ATOMIC(atomicSub, unsigned, __atomic_fetch_sub, false)
EMULATOR_ATOMIC_LOOP(atomicInc, unsigned, unsigned, old >= value ? 0 : old + 1)
EMULATOR_ATOMIC_LOOP(atomicDec, unsigned, unsigned, old == 0 || old > value ? value : old - 1)
EMULATOR_ATOMIC_LOOP(atomicAdd, float, unsigned, old + value)
EMULATOR_ATOMIC_LOOP(atomicAdd, double, emulator_u64, old + value)
EMULATOR_ATOMIC_EXCHANGE(float, unsigned)
EMULATOR_ATOMIC_CAS(unsigned short)

/* Host code's and other GPUs', too, or only the block's: all are one system here. */
#define atomicAdd_system atomicAdd
#define atomicAdd_block atomicAdd
#define atomicSub_system atomicSub
#define atomicSub_block atomicSub
#define atomicExch_system atomicExch
#define atomicExch_block atomicExch
#define atomicMin_system atomicMin
#define atomicMin_block atomicMin
#define atomicMax_system atomicMax
#define atomicMax_block atomicMax
#define atomicInc_system atomicInc
#define atomicInc_block atomicInc
#define atomicDec_system atomicDec
#define atomicDec_block atomicDec
#define atomicCAS_system atomicCAS
#define atomicCAS_block atomicCAS
#define atomicAnd_system atomicAnd
#define atomicAnd_block atomicAnd
#define atomicOr_system atomicOr
#define atomicOr_block atomicOr
#define atomicXor_system atomicXor
#define atomicXor_block atomicXor

/* --- mathematical functions -------------------------------------------------------------------
 *
 * Beyond C's <math.h> (CUDA Math API reference: single precision intrinsics, type casting, integer
 * intrinsics). The fast ones (__expf, __fdividef, ...) are the accurate functions here. */

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

static inline __host__ __device__ unsigned umin(unsigned a, unsigned b) { return min(a, b); }
static inline __host__ __device__ unsigned umax(unsigned a, unsigned b) { return max(a, b); }
static inline __host__ __device__ long long llmin(long long a, long long b) { return min(a, b); }
static inline __host__ __device__ long long llmax(long long a, long long b) { return max(a, b); }

static inline __host__ __device__ float rsqrtf(float x) { return 1.0f / sqrtf(x); }
static inline __host__ __device__ double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline __host__ __device__ float rcbrtf(float x) { return 1.0f / cbrtf(x); }
static inline __host__ __device__ double rcbrt(double x) { return 1.0 / cbrt(x); }
static inline __host__ __device__ float fdividef(float x, float y) { return x / y; }
/* Of multiples of pi, which make zeros and ones exact. */
static inline __host__ __device__ double sinpi(double x) {
    const double turn = remainder(x, 2.0);
    return sin(M_PI * (fabs(turn) > 0.5 ? copysign(1.0, turn) - turn : turn));
}
static inline __host__ __device__ double cospi(double x) {
    return sin(M_PI * (0.5 - fabs(remainder(x, 2.0))));
}
static inline __host__ __device__ float sinpif(float x) { return (float)sinpi(x); }
static inline __host__ __device__ float cospif(float x) { return (float)cospi(x); }
static inline __host__ __device__ double norm3d(double x, double y, double z) {
    return hypot(hypot(x, y), z);
}
static inline __host__ __device__ double rnorm3d(double x, double y, double z) {
    return 1.0 / norm3d(x, y, z);
}
static inline __host__ __device__ float rnorm3df(float x, float y, float z) {
    return (float)rnorm3d(x, y, z);
}
static inline __host__ __device__ float rhypotf(float x, float y) {
    return (float)(1.0 / hypot((double)x, (double)y));
}
static inline __host__ __device__ double norm4d(double x, double y, double z, double w) {
    return hypot(hypot(x, y), hypot(z, w));
}
static inline __host__ __device__ float norm3df(float x, float y, float z) {
    return (float)norm3d(x, y, z);
}
static inline __host__ __device__ float norm4df(float x, float y, float z, float w) {
    return (float)norm4d(x, y, z, w);
}
static inline __host__ __device__ double normcdf(double x) { return erfc(-x * M_SQRT1_2) / 2; }
static inline __host__ __device__ float normcdff(float x) { return (float)normcdf(x); }
EMULATOR_DEVICE float __saturatef(float x) { return !(x > 0.0f) ? 0.0f : x > 1.0f ? 1.0f : x; }
/* These are macros because glibc's <math.h> has declared functions of the same names. */
#define __expf(x) expf(x)
#define __exp10f(x) powf(10.0f, (x))
#define __logf(x) logf(x)
#define __log2f(x) log2f(x)
#define __log10f(x) log10f(x)
#define __sinf(x) sinf(x)
#define __sincosf(x, sine, cosine) sincosf(x, sine, cosine)
#define __cosf(x) cosf(x)
#define __tanf(x) tanf(x)
#define __tanhf(x) tanhf(x)
#define __powf(x, y) powf((x), (y))
EMULATOR_DEVICE float __fdividef(float x, float y) { return x / y; }

/* The _rn forms round once for each operation: the compiler must not join a product and a sum
 * into one fused operation, which a volatile result keeps it from. */
EMULATOR_DEVICE float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
EMULATOR_DEVICE double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
#define EMULATOR_ROUNDED(name, type, sign)                                                         \
    EMULATOR_DEVICE type name(type x, type y) {                                                    \
        volatile type result = x sign y;                                                           \
        return result;                                                                             \
    }
EMULATOR_ROUNDED(__fmul_rn, float, *)
EMULATOR_ROUNDED(__fadd_rn, float, +)
EMULATOR_ROUNDED(__fsub_rn, float, -)
EMULATOR_ROUNDED(__dmul_rn, double, *)
EMULATOR_ROUNDED(__dadd_rn, double, +)
EMULATOR_ROUNDED(__dsub_rn, double, -)
EMULATOR_DEVICE double __ddiv_rn(double x, double y) { return x / y; }
EMULATOR_DEVICE double __drcp_rn(double x) { return 1.0 / x; }
EMULATOR_DEVICE double __dsqrt_rn(double x) { return sqrt(x); }
EMULATOR_DEVICE float __fdiv_rn(float x, float y) { return x / y; }
EMULATOR_DEVICE float __frcp_rn(float x) { return 1.0f / x; }
EMULATOR_DEVICE float __fsqrt_rn(float x) { return sqrtf(x); }
EMULATOR_DEVICE float __frsqrt_rn(float x) { return (float)(1.0 / sqrt((double)x)); }

/* Conversions saturate, and turn a float's NaN into 0 and a double's into INT_MIN, as the GPU's do
 * (C++ leaves all of that undefined). */
EMULATOR_DEVICE int emulator_to_int(double x) {
    return x >= 2147483647.0 ? INT_MAX : x <= -2147483648.0 ? INT_MIN : x == x ? (int)x : 0;
}
EMULATOR_DEVICE unsigned emulator_to_uint(double x) {
    return x >= 4294967295.0 ? UINT_MAX : x > 0.0 ? (unsigned)x : 0u;
}
EMULATOR_DEVICE int __float2int_rn(float x) { return emulator_to_int(rintf(x)); }
EMULATOR_DEVICE int __float2int_rz(float x) { return emulator_to_int(truncf(x)); }
EMULATOR_DEVICE int __float2int_ru(float x) { return emulator_to_int(ceilf(x)); }
EMULATOR_DEVICE int __float2int_rd(float x) { return emulator_to_int(floorf(x)); }
EMULATOR_DEVICE unsigned __float2uint_rn(float x) { return emulator_to_uint(rintf(x)); }
EMULATOR_DEVICE unsigned __float2uint_rz(float x) { return emulator_to_uint(truncf(x)); }
EMULATOR_DEVICE unsigned __float2uint_ru(float x) { return emulator_to_uint(ceilf(x)); }
EMULATOR_DEVICE unsigned __float2uint_rd(float x) { return emulator_to_uint(floorf(x)); }
EMULATOR_DEVICE int __double2int_rn(double x) {
    return x == x ? emulator_to_int(rint(x)) : INT_MIN;
}
EMULATOR_DEVICE int __double2int_rz(double x) { return x == x ? emulator_to_int(x) : INT_MIN; }
EMULATOR_DEVICE float __int2float_rn(int x) { return (float)x; }
EMULATOR_DEVICE float __uint2float_rn(unsigned x) { return (float)x; }
EMULATOR_DEVICE float __double2float_rn(double x) { return (float)x; }
EMULATOR_DEVICE float __ll2float_rn(long long x) { return (float)x; }
EMULATOR_DEVICE float __ull2float_rn(unsigned long long x) { return (float)x; }
EMULATOR_DEVICE double __int2double_rn(int x) { return x; }
EMULATOR_DEVICE double __uint2double_rn(unsigned x) { return x; }
EMULATOR_DEVICE double __ll2double_rn(long long x) { return (double)x; }
EMULATOR_DEVICE double __ull2double_rn(unsigned long long x) { return (double)x; }

template <class To, class From> EMULATOR_DEVICE To emulator_bits(From from) {
    static_assert(sizeof(To) == sizeof(From), "reinterpreted values have one size");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
EMULATOR_DEVICE int __float_as_int(float x) { return emulator_bits<int>(x); }
EMULATOR_DEVICE unsigned __float_as_uint(float x) { return emulator_bits<unsigned>(x); }
EMULATOR_DEVICE float __int_as_float(int x) { return emulator_bits<float>(x); }
EMULATOR_DEVICE float __uint_as_float(unsigned x) { return emulator_bits<float>(x); }
EMULATOR_DEVICE long long __double_as_longlong(double x) { return emulator_bits<long long>(x); }
EMULATOR_DEVICE double __longlong_as_double(long long x) { return emulator_bits<double>(x); }

EMULATOR_DEVICE int emulator_low24(int x) {
    return (int)(((unsigned)x & 0xFFFFFFu) ^ 0x800000u) - 0x800000;
}
EMULATOR_DEVICE int __mul24(int x, int y) {
    return (int)(unsigned)((long long)emulator_low24(x) * emulator_low24(y));
}
EMULATOR_DEVICE unsigned __umul24(unsigned x, unsigned y) {
    return (x & 0xFFFFFF) * (y & 0xFFFFFF);
}
EMULATOR_DEVICE int __mulhi(int x, int y) { return (int)(((long long)x * y) >> 32); }
EMULATOR_DEVICE unsigned __umulhi(unsigned x, unsigned y) {
    return (unsigned)(((unsigned long long)x * y) >> 32);
}
EMULATOR_DEVICE long long __mul64hi(long long x, long long y) {
    return (long long)(((__int128)x * y) >> 64);
}
EMULATOR_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
    return (unsigned long long)(((unsigned __int128)x * y) >> 64);
}
EMULATOR_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
EMULATOR_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
EMULATOR_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
EMULATOR_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
EMULATOR_DEVICE int __ffs(int x) { return __builtin_ffs(x); }
EMULATOR_DEVICE int __ffsll(long long x) { return __builtin_ffsll(x); }
EMULATOR_DEVICE unsigned __brev(unsigned x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0F0F0F0Fu) | (x & 0x0F0F0F0Fu) << 4;
    return __builtin_bswap32(x);
}
EMULATOR_DEVICE unsigned long long __brevll(unsigned long long x) {
    return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}

/* Bytes 0 to 3 are x's and 4 to 7 y's; each of the four lowest digits of `select` picks one. */
EMULATOR_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned select) {
    const emulator_u64 bytes = (emulator_u64)y << 32 | x;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i)
        result |= (unsigned)(bytes >> (select >> 4 * i & 7) * 8 & 0xFF) << 8 * i;
    return result;
}
/* Of the 64 bits high:low, shifted by at most 31 (modulo 32), or 32 (clamped), one half. */
EMULATOR_DEVICE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) {
    return shift < 32 ? (unsigned)((((emulator_u64)high << 32 | low) << shift) >> 32) : low;
}
EMULATOR_DEVICE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) {
    return shift < 32 ? (unsigned)(((emulator_u64)high << 32 | low) >> shift) : high;
}
EMULATOR_DEVICE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    return __funnelshift_lc(low, high, shift % 32);
}
EMULATOR_DEVICE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    return __funnelshift_rc(low, high, shift % 32);
}
EMULATOR_DEVICE int __hadd(int x, int y) { return (int)(((long long)x + y) >> 1); }
EMULATOR_DEVICE int __rhadd(int x, int y) { return (int)(((long long)x + y + 1) >> 1); }
EMULATOR_DEVICE unsigned __uhadd(unsigned x, unsigned y) {
    return (unsigned)(((emulator_u64)x + y) >> 1);
}
EMULATOR_DEVICE unsigned __urhadd(unsigned x, unsigned y) {
    return (unsigned)(((emulator_u64)x + y + 1) >> 1);
}
EMULATOR_DEVICE unsigned __sad(int x, int y, unsigned z) {
    return z + (x > y ? (unsigned)x - (unsigned)y : (unsigned)y - (unsigned)x);
}
EMULATOR_DEVICE unsigned __usad(unsigned x, unsigned y, unsigned z) {
    return z + (x > y ? x - y : y - x);
}
/* z and the products of four bytes each. */
EMULATOR_DEVICE int __dp4a(int x, int y, int z) {
    unsigned sum = (unsigned)z;
    for (int i = 0; i < 32; i += 8)
        sum += (unsigned)((signed char)(x >> i) * (signed char)(y >> i));
    return (int)sum;
}
EMULATOR_DEVICE unsigned __dp4a(unsigned x, unsigned y, unsigned z) {
    for (int i = 0; i < 32; i += 8) z += (x >> i & 0xFF) * (y >> i & 0xFF);
    return z;
}
#endif
