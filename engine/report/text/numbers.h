/* Small tools for numbers, and pseudorandom ones. */
#ifndef ENGINE_REPORT_NUMBERS_H
#define ENGINE_REPORT_NUMBERS_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __NVCC__ && defined __CUDACC__ /* GPUs make random inputs, too */
#define ON_GPU __host__ __device__
#else
#define ON_GPU
#endif

#define LENGTH(array) ((int)(sizeof(array) / sizeof((array)[0])))

static inline int min_int(int a, int b) { return a < b ? a : b; }

static inline int max_int(int a, int b) { return a > b ? a : b; }

static inline size_t min_size(size_t a, size_t b) { return a < b ? a : b; }

static inline size_t round_up(size_t value, size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

/* For qsort(). */
static inline int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define EXACT_LIMIT (INT64_C(1) << 24) /* float32 holds every integer up to here */

static inline uint32_t get_bits(const float *value) {
    uint32_t bits;
    memcpy(&bits, value, sizeof bits);
    return bits;
}

/* The finalizer of splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014; constants as in Vigna's public-domain splitmix64.c. */
ON_GPU static inline uint64_t mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* The index-th number of a stream: splitmix64 started at `key`, which is a pure function of both.
 */
ON_GPU static inline uint64_t random64(uint64_t key, uint64_t index) {
    return mix64(key + (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* A float on (-1, 1) of random bits: 24 of them, r, give the odd numerators 2 r + 1 - 2^24, which
 * are symmetric about 0, never 0, and exact. */
ON_GPU static inline float uniform_of(uint64_t bits) {
    const int32_t numerator = 2 * (int32_t)(bits >> 40) + 1 - (1 << 24);
    return (float)numerator * 0x1p-24f;
}

#endif
