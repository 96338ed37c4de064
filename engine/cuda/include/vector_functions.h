/* make_float4 and its siblings, one for each of CUDA's vector types. */
#ifndef EMULATOR_VECTOR_FUNCTIONS_H
#define EMULATOR_VECTOR_FUNCTIONS_H
#include "vector_types.h"

#define EMULATOR_MAKE(type, base)                                                                  \
    static inline __host__ __device__ base##1 make_##base##1(type x) { return base##1 {x}; }       \
    static inline __host__ __device__ base##2 make_##base##2(type x, type y) {                     \
        return base##2 {x, y};                                                                     \
    }                                                                                              \
    static inline __host__ __device__ base##3 make_##base##3(type x, type y, type z) {             \
        return base##3 {x, y, z};                                                                  \
    }                                                                                              \
    static inline __host__ __device__ base##4 make_##base##4(type x, type y, type z, type w) {     \
        return base##4 {x, y, z, w};                                                               \
    }

EMULATOR_MAKE(signed char, char)
EMULATOR_MAKE(unsigned char, uchar)
EMULATOR_MAKE(short, short)
EMULATOR_MAKE(unsigned short, ushort)
EMULATOR_MAKE(int, int)
EMULATOR_MAKE(unsigned int, uint)
EMULATOR_MAKE(long, long)
EMULATOR_MAKE(unsigned long, ulong)
EMULATOR_MAKE(long long, longlong)
EMULATOR_MAKE(unsigned long long, ulonglong)
EMULATOR_MAKE(float, float)
EMULATOR_MAKE(double, double)
#undef EMULATOR_MAKE
#endif
