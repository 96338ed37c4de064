/* CUDA's vector types: uint3, dim3, float4 and the like, with CUDA's sizes and alignments.
 *
 * Read by C (the runtime) and C++ (the student's kernel). Only C++ sees dim3's constructors. */
#ifndef EMULATOR_VECTOR_TYPES_H
#define EMULATOR_VECTOR_TYPES_H

/* Not <stdint.h>: a kernel that compiles here without an #include has to compile with nvcc, whose
 * own header does not bring it along (nor <stdio.h>, nor <assert.h>). */
typedef __UINT64_TYPE__ emulator_u64;

#define EMULATOR_VECTOR1(type, name)                                                               \
    struct name {                                                                                  \
        type x;                                                                                    \
    };                                                                                             \
    typedef struct name name;
#define EMULATOR_VECTOR2(type, name)                                                               \
    struct __attribute__((aligned(2 * sizeof(type)))) name {                                       \
        type x, y;                                                                                 \
    };                                                                                             \
    typedef struct name name;
#define EMULATOR_VECTOR3(type, name)                                                               \
    struct name {                                                                                  \
        type x, y, z;                                                                              \
    };                                                                                             \
    typedef struct name name;
/* CUDA aligns no vector to more than 16 bytes. */
#define EMULATOR_VECTOR4(type, name)                                                               \
    struct __attribute__((aligned(sizeof(type) < 4 ? 4 * sizeof(type) : 16))) name {               \
        type x, y, z, w;                                                                           \
    };                                                                                             \
    typedef struct name name;
#define EMULATOR_VECTORS(type, base)                                                               \
    EMULATOR_VECTOR1(type, base##1)                                                                \
    EMULATOR_VECTOR2(type, base##2)                                                                \
    EMULATOR_VECTOR3(type, base##3) EMULATOR_VECTOR4(type, base##4)

EMULATOR_VECTORS(signed char, char)
EMULATOR_VECTORS(unsigned char, uchar)
EMULATOR_VECTORS(short, short)
EMULATOR_VECTORS(unsigned short, ushort)
EMULATOR_VECTORS(int, int)
EMULATOR_VECTORS(unsigned int, uint)
EMULATOR_VECTORS(long, long)
EMULATOR_VECTORS(unsigned long, ulong)
EMULATOR_VECTORS(long long, longlong)
EMULATOR_VECTORS(unsigned long long, ulonglong)
EMULATOR_VECTORS(float, float)
EMULATOR_VECTORS(double, double)

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1)
        : x(x_), y(y_), z(z_) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;

#undef EMULATOR_VECTOR1
#undef EMULATOR_VECTOR2
#undef EMULATOR_VECTOR3
#undef EMULATOR_VECTOR4
#undef EMULATOR_VECTORS
#endif
