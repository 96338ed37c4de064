/* What clangd includes before a .cu file (.clangd). It reads CUDA as clang does, with
 * `__global__` and `kernel<<<...>>>` of its own, so those replace the emulator's; functions and
 * types are the emulator's, and may be called from host and device code alike. Nothing is ever
 * built from this. */
#ifndef EMULATOR_EDITOR_H
#define EMULATOR_EDITOR_H

#include <vector> /* what it includes cannot be for the device, so comes before the pragma */

#define EMULATOR_EDITOR
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))

#pragma clang force_cuda_host_device begin
#define __syncthreads emulator_syncthreads /* a built-in function of clang's own */
#include "include/cuda_runtime.h"
/* It defines device functions: included later, they would be host code. */
#include "include/cuda_pipeline.h"
#undef __syncthreads
#pragma clang force_cuda_host_device end

#undef __managed__
#undef __launch_bounds__
#define __managed__ __attribute__((managed))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

/* Of the host's library, what a kernel may call. */
extern "C" {
__device__ int printf(const char *format, ...);
__device__ void __assert_fail(const char *what, const char *file, unsigned line,
                              const char *function) __attribute__((noreturn));
}

/* What clang makes of <<<grid, block, shared, stream>>>; which one depends on its version. */
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes = 0,
                                                void *stream = nullptr);
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared_bytes = 0,
                              cudaStream_t stream = nullptr);
#endif
