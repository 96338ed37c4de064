/* What only device code may use: built-in variables, barriers, warp operations, atomics
 * (CUDA C++ Programming Guide, "C++ Language Extensions").
 *
 * Each CUDA thread is a fiber and a block's fibers share one OS thread, so a thread runs until it
 * waits: at a barrier, at a warp operation, or in a spin (a compare-and-swap that fails). */
#ifndef EMULATOR_DEVICE_FUNCTIONS_H
#define EMULATOR_DEVICE_FUNCTIONS_H
#include "barrier.h"
#include "vector_types.h"
#include <string.h>

extern "C" {
/* Constant for a thread as long as it lives; the runtime sets them at each change of thread. */
extern __thread const uint3 threadIdx;
extern __thread const uint3 blockIdx;
extern const dim3 blockDim;
extern const dim3 gridDim;

struct emulator_votes {
    unsigned arrived; /* threads that took part in the barrier */
    unsigned yes;     /* those whose predicate was not zero */
};
struct emulator_warp_values {
    emulator_u64 value[32]; /* what each lane brought */
    unsigned lanes;         /* which lanes took part */
};
struct emulator_votes emulator_barrier_vote(int predicate);
const struct emulator_warp_values *emulator_warp_exchange(unsigned mask, emulator_u64 value);
unsigned emulator_warp_active(unsigned place);
void emulator_spin(void);
void emulator_trap(void) __attribute__((noreturn));
long long emulator_clock(void);
}

static const int warpSize = 32;

/* --- barriers ------------------------------------------------------------------------------- */

static inline __device__ void __syncthreads(void) { emulator_barrier_here<__COUNTER__>(); }
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
template <int number>
static inline __device__ __attribute__((always_inline)) void emulator_different(void) {
    __asm__ volatile("" : : "i"(number));
}
static inline __device__ int __syncthreads_count(int predicate) {
    return (int)emulator_barrier_vote(predicate).yes;
}
static inline __device__ int __syncthreads_and(int predicate) {
    emulator_votes votes = emulator_barrier_vote(predicate);
    return votes.yes == votes.arrived;
}
static inline __device__ int __syncthreads_or(int predicate) {
    return emulator_barrier_vote(predicate).yes != 0;
}
static inline __device__ void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
    emulator_warp_exchange(mask, 0);
}

/* Of different strength, so that the checker knows them apart. */
static inline __device__ void __threadfence_block(void) { __atomic_thread_fence(__ATOMIC_ACQ_REL); }
static inline __device__ void __threadfence(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline __device__ void __threadfence_system(void) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
static inline __device__ void __nanosleep(unsigned) { emulator_spin(); }
static inline __device__ void __trap(void) { emulator_trap(); }
static inline __device__ long long clock64(void) { return emulator_clock(); }

/* --- warps ---------------------------------------------------------------------------------- */

/* A warp is 32 threads of consecutive linear index, x fastest. */
static inline __device__ unsigned emulator_lane(void) {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

/* The value of lane `source`, or this thread's own if `keep`. CUDA leaves undefined what a lane
 * that takes no part would give; here that is a NaN, so that it cannot pass for a result. */
template <class T>
static inline __device__ T emulator_shuffle(unsigned mask, T value, unsigned source, bool keep) {
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
static inline __device__ T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    unsigned base = emulator_lane() & ~((unsigned)width - 1);
    return emulator_shuffle(mask, value, base + ((unsigned)source & ((unsigned)width - 1)), false);
}
template <class T>
static inline __device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    unsigned lane = emulator_lane(), base = lane & ~((unsigned)width - 1);
    return emulator_shuffle(mask, value, (lane - delta) & 31, delta > lane - base);
}
template <class T>
static inline __device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta,
                                            int width = 32) {
    unsigned lane = emulator_lane(), left = (unsigned)width - 1 - (lane & ((unsigned)width - 1));
    return emulator_shuffle(mask, value, (lane + delta) & 31, delta > left);
}
template <class T>
static inline __device__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
    unsigned lane = emulator_lane(), end = (lane & ~((unsigned)width - 1)) + (unsigned)width;
    unsigned source = lane ^ (unsigned)lane_mask;
    return emulator_shuffle(mask, value, source & 31, source >= end);
}

static inline __device__ unsigned __ballot_sync(unsigned mask, int predicate) {
    const emulator_warp_values *warp = emulator_warp_exchange(mask, predicate != 0);
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        ballot |= (unsigned)(warp->lanes >> lane & 1 && warp->value[lane]) << lane;
    return ballot;
}
static inline __device__ int __any_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, predicate) != 0;
}
static inline __device__ int __all_sync(unsigned mask, int predicate) {
    return __ballot_sync(mask, !predicate) == 0;
}
/* A macro, so that each place in the text has its own number: lanes in different branches do not
 * count together, though both branches call it. */
#define __activemask() emulator_warp_active(__COUNTER__)

template <class T> static inline __device__ unsigned __match_any_sync(unsigned mask, T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "matches compare 4 or 8 bytes");
    emulator_u64 bits = 0;
    memcpy(&bits, &value, sizeof value);
    const emulator_warp_values *warp = emulator_warp_exchange(mask, bits);
    unsigned same = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
        same |= (unsigned)(warp->lanes >> lane & 1 && warp->value[lane] == bits) << lane;
    return same;
}

#define EMULATOR_REDUCE(name, type, combine)                                                       \
    static inline __device__ type name(unsigned mask, type value) {                                \
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
static inline __device__ int __reduce_add_sync(unsigned mask, int value) {
    return (int)__reduce_add_sync(mask, (unsigned)value);
}
EMULATOR_REDUCE(__reduce_min_sync, int, other < result ? other : result)
EMULATOR_REDUCE(__reduce_max_sync, int, other > result ? other : result)

/* --- loads and stores with a cache hint: plain ones here -------------------------------------- */

template <class T> static inline __device__ T __ldg(const T *address) { return *address; }
template <class T> static inline __device__ T __ldca(const T *address) { return *address; }
template <class T> static inline __device__ T __ldcg(const T *address) { return *address; }
template <class T> static inline __device__ T __ldcs(const T *address) { return *address; }
template <class T> static inline __device__ T __ldlu(const T *address) { return *address; }
template <class T> static inline __device__ T __ldcv(const T *address) { return *address; }
template <class T> static inline __device__ void __stwb(T *address, T value) { *address = value; }
template <class T> static inline __device__ void __stwt(T *address, T value) { *address = value; }
template <class T> static inline __device__ void __stcg(T *address, T value) { *address = value; }
template <class T> static inline __device__ void __stcs(T *address, T value) { *address = value; }

/* --- atomics --------------------------------------------------------------------------------- */

/* Each returns the old value. An operation that changes nothing is how a thread waits for another
 * (`while (atomicCAS(&lock, 0, 1));`), so it lets the others run. */
#define EMULATOR_ATOMIC(name, type, builtin)                                                       \
    static inline __device__ type name(type *address, type value) {                                \
        if (value == 0) emulator_spin();                                                           \
        return builtin(address, value, __ATOMIC_RELAXED);                                          \
    }
#define EMULATOR_ATOMIC_LOOP(name, type, as, next)                                                 \
    static inline __device__ type name(type *address, type value) {                                \
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
    static inline __device__ type atomicExch(type *address, type value) {                          \
        as old, fresh;                                                                             \
        memcpy(&fresh, &value, sizeof fresh);                                                      \
        __atomic_exchange((as *)address, &fresh, &old, __ATOMIC_RELAXED);                          \
        if (old == fresh) emulator_spin();                                                         \
        memcpy(&value, &old, sizeof value);                                                        \
        return value;                                                                              \
    }
#define EMULATOR_ATOMIC_CAS(type)                                                                  \
    static inline __device__ type atomicCAS(type *address, type compare, type value) {             \
        type old = compare;                                                                        \
        if (!__atomic_compare_exchange_n(address, &old, value, false, __ATOMIC_RELAXED,            \
                                         __ATOMIC_RELAXED))                                        \
            emulator_spin();                                                                       \
        return old;                                                                                \
    }
#define EMULATOR_ATOMIC_INTEGER(type)                                                              \
    EMULATOR_ATOMIC(atomicAdd, type, __atomic_fetch_add)                                           \
    EMULATOR_ATOMIC(atomicOr, type, __atomic_fetch_or)                                             \
    EMULATOR_ATOMIC(atomicXor, type, __atomic_fetch_xor)                                           \
    EMULATOR_ATOMIC(atomicAnd, type, __atomic_fetch_and)                                           \
    EMULATOR_ATOMIC_LOOP(atomicMin, type, type, value < old ? value : old)                         \
    EMULATOR_ATOMIC_LOOP(atomicMax, type, type, value > old ? value : old)                         \
    EMULATOR_ATOMIC_EXCHANGE(type, type)                                                           \
    EMULATOR_ATOMIC_CAS(type)

EMULATOR_ATOMIC_INTEGER(int)
EMULATOR_ATOMIC_INTEGER(unsigned)
EMULATOR_ATOMIC_INTEGER(unsigned long long)
EMULATOR_ATOMIC_LOOP(atomicMin, long long, long long, value < old ? value : old)
EMULATOR_ATOMIC_LOOP(atomicMax, long long, long long, value > old ? value : old)
EMULATOR_ATOMIC(atomicSub, int, __atomic_fetch_sub)
EMULATOR_ATOMIC(atomicSub, unsigned, __atomic_fetch_sub)
EMULATOR_ATOMIC_LOOP(atomicInc, unsigned, unsigned, old >= value ? 0 : old + 1)
EMULATOR_ATOMIC_LOOP(atomicDec, unsigned, unsigned, old == 0 || old > value ? value : old - 1)
EMULATOR_ATOMIC_LOOP(atomicAdd, float, unsigned, old + value)
EMULATOR_ATOMIC_LOOP(atomicAdd, double, emulator_u64, old + value)
EMULATOR_ATOMIC_EXCHANGE(float, unsigned)
EMULATOR_ATOMIC_CAS(unsigned short)
#endif
