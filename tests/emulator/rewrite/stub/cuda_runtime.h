/* Just enough of a CUDA header to run rewritten programs: a launch calls the kernel once. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tuple>

#define __global__
#define __device__ __attribute__((used))
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct alignas(16) float4 {
    float x, y, z, w;
};
typedef struct stream *cudaStream_t;

extern "C" __thread char emulator_dynamic_shared[48 * 1024];

namespace emulator {

struct dynamic_shared {
    template <typename T> operator T &() const {
        return reinterpret_cast<T &>(emulator_dynamic_shared);
    }
};

inline dim3 last_grid, last_block;
inline size_t last_shared;

template <typename... A> struct launch { std::tuple<A...> arguments; };

struct launch_config {
    launch_config(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t = nullptr) {
        last_grid = grid;
        last_block = block;
        last_shared = shared;
    }
    template <typename... A> launch<A...> operator()(A... arguments) const {
        return {std::tuple<A...>(arguments...)};
    }
};

template <typename... P, typename... A>
void operator->*(void (*kernel)(P...), const launch<A...> &l) {
    std::apply(kernel, l.arguments);
}

} // namespace emulator

/* Prints the line of a check that fails; each program's main returns the number of failures. */
inline int failures;
#define CHECK(condition)                                                                           \
    ((condition) ? (void)0 : (void)(failures++, printf("line %d: %s\n", __LINE__, #condition)))
