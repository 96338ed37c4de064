/* What a .cu file sees when it is built for the CPU: CUDA's keywords, built-in variables, device
 * functions and runtime API, as C++17. nvcc includes its own header of this name without being
 * asked; so does the build of the CPU backend.
 *
 * `k<<<grid, block>>>(x)` and `__shared__` are no C++: ../rewrite.c turns them into the C++ that
 * launch_config below and the runtime understand. The names gridDim, blockDim and so on are
 * variables, not macros, because host code often has variables of these names. */
#ifndef EMULATOR_CUDA_RUNTIME_H
#define EMULATOR_CUDA_RUNTIME_H
#pragma GCC system_header /* all that it includes is: ../rewrite.c leaves it as it is */

/* These nvcc includes too, unasked; no others, or a kernel would compile here and not there. */
#include <string.h>
#ifndef __clang__ /* gcc expands these without a word to the checker; as calls they are seen */
#define __builtin_memcpy memcpy
#define __builtin_memmove memmove
#define __builtin_memset memset
#endif

#include <limits.h>

/* EMULATOR_HOST_API: the API alone, for this project's own files; it takes a third of the time. */
#ifndef EMULATOR_HOST_API

/* C++17's <cmath> has Bessel functions and their like, which no kernel needs and which were a fifth
 * of the time that it compiles. Only what they include is kept, std::min for one. */
#include <cstddef> /* has libstdc++'s settings */
#ifdef _GLIBCXX_USE_STD_SPEC_FUNCS
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#include <bits/stl_algobase.h>
#include <limits>
#endif
#include <math.h>
#include <type_traits>
#endif

#include <stdlib.h>
#include <time.h>

#define __CUDACC__ 1
#define __CUDA_RUNTIME_H__ /* as in cuda_runtime_api.h */

/* What these store compilers do not tell the checker; of memcpy and of an assignment they do. */
#define __builtin_va_start(list, last)                                                             \
    __extension__({                                                                                \
        __builtin_va_list made;                                                                    \
        __builtin_va_start(made, last);                                                            \
        __builtin_va_copy(list, made);                                                             \
    })
#ifdef __x86_64__ /* an array */
#define __builtin_va_copy(to, from) ((void)::memcpy(to, from, sizeof(__builtin_va_list)))
#else
#define __builtin_va_copy(to, from) ((void)((to) = (from)))
#endif

/* Macros, as CUDA's are; ../rewrite.c takes the words out. In these headers they say, as in CUDA's,
 * who can call a function: what has none is for host code, but for names with emulator_. */
#if !defined EMULATOR_EDITOR && !defined __global__ /* ../editor.h, ../../kernel.sh: their own */
#define __global__ __global__
#define __device__ __device__
#define __host__ __host__
#define __constant__ __constant__
#endif
/* In a section of its own, so that it can be recognized. */
#define __managed__ __attribute__((section("emulator_managed")))
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __builtin_align__(bytes) __attribute__((aligned(bytes)))
/* __restrict__ is the compilers' own word. __shared__ is left to ../rewrite.c. */

#include "cuda_runtime_api.h"
#ifndef EMULATOR_HOST_API
#include "device_functions.h"
#endif
#include "vector_types.h"

#ifndef EMULATOR_HOST_API
/* --- launches ----------------------------------------------------------------------------------
 *
 * `kernel<<<grid, block, shared, stream>>>(a, b)` reaches the compiler as
 * `(kernel->*::emulator::launch_config(grid, block, shared, stream))(a, b)` (see ../rewrite.c):
 * `->*` gives an object with the kernel's parameters, whose call is checked and made as the
 * kernel's own would be. Last, what dynamic shared memory becomes. */

extern "C" {
/* Runs thread(copy) once for each thread of the grid, with a copy of the `bytes` at `data` among
 * its own local variables; kernel names the launched function. Returns when all have run. Errors
 * show in cudaGetLastError and the next synchronization. */
void emulator_launch(const void *kernel, uint3 grid, uint3 block, size_t shared_bytes,
                     cudaStream_t stream, void (*thread)(const void *copy), const void *data,
                     size_t bytes);

/* What a kernel gets where host code passes this pointer: see runtime/symbols.c. */
void *emulator_argument(const void *pointer);

/* The block's dynamic shared memory, as large as a launch may ask for. */
extern __thread char emulator_dynamic_shared[];
}

namespace emulator {

/* What ../spaces.c knows the code of empty functions by: of a constructor without a mark, and of
 * one with it. */
struct empty {
    __attribute__((used)) empty() {}
    __attribute__((used)) __device__ ~empty() {}
};

/* For ../rewrite.c's marked text: calls that mark the execution space of a lambda, and a condition
 * that no compiler can fold, and that leaves constant expressions as they are. */
constexpr void of_device() {}
constexpr void of_both() {}
constexpr bool may_be() {
#ifdef __has_builtin /* since gcc 10 */
    return !__builtin_is_constant_evaluated() && __builtin_return_address(0) != nullptr;
#else
    return false;
#endif
}

/* What an extern __shared__ array in a function is bound to: float (&s)[] = dynamic_shared(). */
struct dynamic_shared {
    template <class T> operator T &() const {
        return reinterpret_cast<T &>(emulator_dynamic_shared);
    }
};

/* Whether a value passes to a function without running code of its class. */
template <class T>
constexpr bool is_plain = std::is_trivially_copyable<T>::value ||
                          (std::is_trivially_copy_constructible<T>::value &&
                           std::is_trivially_move_constructible<T>::value &&
                           std::is_trivially_destructible<T>::value);

/* An argument as each thread gets it: its bytes, as on a GPU. Host code makes the copy of which
 * they are, and destroys it. By the compilers' binary interface a function is given the address of
 * what is not plain, just as it is given a reference. */
template <class T> struct sent {
    alignas(T) char bytes[sizeof(T)];
    static_assert(!std::is_polymorphic<T>::value,
                  "an object of a class with virtual functions cannot be passed to a kernel");
    explicit sent(T &given) { ::memcpy(bytes, __builtin_addressof(given), sizeof(T)); }
    typedef typename std::conditional<is_plain<T>, T, T &>::type passed;
    passed &&get() { return static_cast<passed &&>(*(T *)bytes); }
};
template <class T> struct sent<T *> {
    T *value;
    explicit sent(T *given) : value((T *)emulator_argument((const void *)given)) {}
    typedef T *passed;
    T *get() { return value; }
};
template <class T> struct sent<T &> : sent<T *> {
    explicit sent(T &given) : sent<T *>(__builtin_addressof(given)) {}
    typedef T &passed;
    T &get() { return *this->value; }
};

struct launch_config {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    launch_config(dim3 grid_, dim3 block_, size_t shared_bytes_ = 0, cudaStream_t stream_ = nullptr)
        : grid(grid_), block(block_), shared_bytes(shared_bytes_), stream(stream_) {}
    /* Its argument, noexcept(kernel(a, b)), is not evaluated. */
    const launch_config &checked(bool) const { return *this; }
};

template <class... Parameters> struct launch {
    void (*kernel)(Parameters...);
    launch_config config;

    void operator()(Parameters... arguments) const { start(sent<Parameters>(arguments)...); }

  private:
    typedef void function(typename sent<Parameters>::passed...);

    template <class Bound> struct closure {
        function *kernel; /* in front: ../../../grader/worker/device_calls.c looks at it */
        Bound call;
        static void thread(const void *copy) {
            const closure *given = (const closure *)copy;
            Bound own = given->call; /* in a frame that the kernel may store to */
            own(given->kernel);
        }
    };
    void start(sent<Parameters>... arguments) const {
        auto call = [arguments...](function *run) mutable { run(arguments.get()...); };
        const closure<decltype(call)> data = {(function *)kernel, call};
        emulator_launch((const void *)kernel, config.grid, config.block, config.shared_bytes,
                        config.stream, data.thread, &data, sizeof data);
    }
};

template <class... Parameters>
launch<Parameters...> operator->*(void (*kernel)(Parameters...), const launch_config &config) {
    return {kernel, config};
}

} // namespace emulator
#endif

/* --- typed forms of the C functions, as CUDA's own header offers them ------------------------- */

template <class T> static inline cudaError_t cudaMalloc(T **pointer, size_t bytes) {
    return cudaMalloc((void **)pointer, bytes);
}
template <class T>
static inline cudaError_t cudaMallocPitch(T **pointer, size_t *pitch, size_t width, size_t height) {
    return cudaMallocPitch((void **)pointer, pitch, width, height);
}
template <class T>
static inline cudaError_t cudaMallocAsync(T **pointer, size_t bytes, cudaStream_t stream) {
    return cudaMallocAsync((void **)pointer, bytes, stream);
}
template <class T> static inline cudaError_t cudaMallocHost(T **pointer, size_t bytes) {
    return cudaMallocHost((void **)pointer, bytes);
}
template <class T>
static inline cudaError_t cudaHostAlloc(T **pointer, size_t bytes, unsigned int flags) {
    return cudaHostAlloc((void **)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaMallocManaged(T **pointer, size_t bytes,
                                            unsigned int flags = cudaMemAttachGlobal) {
    return cudaMallocManaged((void **)pointer, bytes, flags);
}
template <class T>
static inline cudaError_t cudaHostGetDevicePointer(T **pointer, void *host, unsigned int flags) {
    return cudaHostGetDevicePointer((void **)pointer, host, flags);
}
/* As it was up to CUDA 12. */
static inline cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                                               cudaStream_t stream = nullptr) {
    const bool host = device == cudaCpuDeviceId;
    const cudaMemLocation location = {host ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
                                      device};
    return cudaMemPrefetchAsync(pointer, bytes, location, 0, stream);
}
static inline cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned int flags) {
    return cudaEventCreateWithFlags(event, flags);
}
template <class... P>
static inline cudaError_t cudaFuncSetAttribute(void (*kernel)(P...), cudaFuncAttribute attribute,
                                               int value) {
    return cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class... P>
static inline cudaError_t cudaFuncSetCacheConfig(void (*kernel)(P...), cudaFuncCache config) {
    return cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class... P>
static inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes,
                                                void (*kernel)(P...)) {
    return cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class... P>
static inline cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, void (*kernel)(P...), int threads,
                                              size_t dynamic_bytes) {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads,
                                                         dynamic_bytes);
}

/* The largest block, of `limit` threads at most if that is not 0, of which a multiprocessor holds
 * the most threads, in *block; in *grid, how many such blocks the device holds. */
template <class Kernel>
static inline cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, Kernel kernel,
                                                             size_t dynamic_bytes = 0,
                                                             int limit = 0) {
    int warp, most, multiprocessors, held = 0;
    cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0);
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxThreadsPerBlock, 0);
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0);
    if (limit > 0 && limit < most) most = limit;
    for (int whole = (most + warp - 1) / warp * warp; whole > 0; whole -= warp) {
        int threads = whole < most ? whole : most, blocks;
        cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, (const void *)kernel, threads, dynamic_bytes);
        if (error != cudaSuccess) return error;
        if (blocks * threads <= held) continue;
        held = blocks * threads;
        *block = threads;
        *grid = blocks * multiprocessors;
    }
    return held ? cudaSuccess : cudaErrorInvalidConfiguration;
}

template <class T>
static inline cudaError_t cudaMemcpyToSymbol(T &symbol, const void *from, size_t bytes,
                                             size_t offset = 0,
                                             cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
    return cudaMemcpyToSymbol((void *)&symbol, sizeof(T), from, bytes, offset, kind);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t bytes,
                                               size_t offset = 0,
                                               cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, sizeof(T), bytes, offset, kind);
}
template <class T> static inline cudaError_t cudaGetSymbolAddress(void **pointer, const T &symbol) {
    return emulator_symbol_address(pointer, (const void *)&symbol, sizeof(T));
}
template <class T> static inline cudaError_t cudaGetSymbolSize(size_t *bytes, const T &symbol) {
    (void)symbol;
    *bytes = sizeof(T);
    return cudaSuccess;
}
#endif
