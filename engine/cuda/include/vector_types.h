/* CUDA's vector types: uint3, dim3, float4 and the like, with CUDA's sizes and alignments; and
 * make_float4() and its siblings.
 *
 * Read by C (the runtime) and C++ (the student's kernel). Only C++ sees dim3's constructors, and in
 * the checked build those of the types of 8 and 16 bytes. */
#ifndef EMULATOR_VECTOR_TYPES_H
#define EMULATOR_VECTOR_TYPES_H

/* Not <stdint.h>: a kernel that compiles here without an #include has to compile with nvcc, whose
 * own header does not bring it along (nor <stdio.h>, nor <assert.h>). */
typedef __UINT64_TYPE__ emulator_u64;

/* A GPU loads and stores a vector of 8 or 16 bytes at once, if it lies at a multiple of that. The
 * checked build has to see one access then, where a compiler would make four of a plain struct's
 * copy; so there a copy is that of one value as large. */
#if defined __cplusplus && defined __SANITIZE_THREAD__
#define EMULATOR_WHOLE_VECTORS 1
#elif defined __cplusplus && defined __has_feature
#if __has_feature(thread_sanitizer)
#define EMULATOR_WHOLE_VECTORS 1
#endif
#endif

#ifdef EMULATOR_WHOLE_VECTORS
typedef long long emulator_8_bytes __attribute__((may_alias));
typedef long long emulator_16_bytes __attribute__((vector_size(16), may_alias));
template <unsigned bytes>
__attribute__((always_inline)) inline void emulator_copy_whole(void *to, const void *from) {
    if (bytes == 8)
        *(emulator_8_bytes *)to = *(const emulator_8_bytes *)from;
    else
        *(emulator_16_bytes *)to = *(const emulator_16_bytes *)from;
}
#define EMULATOR_WHOLE_COPIES(name, bytes)                                                         \
    name() = default;                                                                              \
    __host__ __device__ __attribute__((always_inline)) name(const name &from) {                    \
        emulator_copy_whole<bytes>(this, &from);                                                   \
    }                                                                                              \
    __host__ __device__ __attribute__((always_inline)) name &operator=(const name &from) {         \
        emulator_copy_whole<bytes>(this, &from);                                                   \
        return *this;                                                                              \
    }
#define EMULATOR_WHOLE2(type, name)                                                                \
    EMULATOR_WHOLE_COPIES(name, 2 * sizeof(type))                                                  \
    __host__ __device__ constexpr name(type x_, type y_ = 0) : x(x_), y(y_) {}
#define EMULATOR_WHOLE4(type, name)                                                                \
    EMULATOR_WHOLE_COPIES(name, 4 * sizeof(type))                                                  \
    __host__ __device__ constexpr name(type x_, type y_ = 0, type z_ = 0, type w_ = 0)             \
        : x(x_), y(y_), z(z_), w(w_) {}
#else
#define EMULATOR_WHOLE2(type, name)
#define EMULATOR_WHOLE4(type, name)
#endif
#define EMULATOR_NOT_WHOLE(type, name)

#ifdef __cplusplus
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
#else
#define EMULATOR_MAKE(type, base)
#endif

#define EMULATOR_VECTOR(name, alignment, copies, ...)                                              \
    struct __attribute__((aligned(alignment))) name {                                              \
        __VA_ARGS__;                                                                               \
        copies                                                                                     \
    };                                                                                             \
    typedef struct name name;
/* CUDA aligns no vector to more than 16 bytes. */
#define EMULATOR_VECTORS(type, base, copies2, copies4)                                             \
    EMULATOR_VECTOR(base##1, sizeof(type), , type x)                                               \
    EMULATOR_VECTOR(base##2, 2 * sizeof(type), copies2(type, base##2), type x, y)                  \
    EMULATOR_VECTOR(base##3, sizeof(type), , type x, y, z)                                         \
    EMULATOR_VECTOR(base##4, sizeof(type) < 4 ? 4 * sizeof(type) : 16, copies4(type, base##4),     \
                    type x, y, z, w)                                                               \
    EMULATOR_MAKE(type, base)

EMULATOR_VECTORS(signed char, char, EMULATOR_NOT_WHOLE, EMULATOR_NOT_WHOLE)
EMULATOR_VECTORS(unsigned char, uchar, EMULATOR_NOT_WHOLE, EMULATOR_NOT_WHOLE)
EMULATOR_VECTORS(short, short, EMULATOR_NOT_WHOLE, EMULATOR_WHOLE4)
EMULATOR_VECTORS(unsigned short, ushort, EMULATOR_NOT_WHOLE, EMULATOR_WHOLE4)
EMULATOR_VECTORS(int, int, EMULATOR_WHOLE2, EMULATOR_WHOLE4)
EMULATOR_VECTORS(unsigned int, uint, EMULATOR_WHOLE2, EMULATOR_WHOLE4)
EMULATOR_VECTORS(long, long, EMULATOR_WHOLE2, EMULATOR_NOT_WHOLE)
EMULATOR_VECTORS(unsigned long, ulong, EMULATOR_WHOLE2, EMULATOR_NOT_WHOLE)
EMULATOR_VECTORS(long long, longlong, EMULATOR_WHOLE2, EMULATOR_NOT_WHOLE)
EMULATOR_VECTORS(unsigned long long, ulonglong, EMULATOR_WHOLE2, EMULATOR_NOT_WHOLE)
EMULATOR_VECTORS(float, float, EMULATOR_WHOLE2, EMULATOR_WHOLE4)
EMULATOR_VECTORS(double, double, EMULATOR_WHOLE2, EMULATOR_NOT_WHOLE)

struct dim3 {
    unsigned int x, y, z;
#ifdef __cplusplus
    __host__ __device__ constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1,
                                       unsigned int z_ = 1)
        : x(x_), y(y_), z(z_) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
#endif
};
typedef struct dim3 dim3;
#endif
