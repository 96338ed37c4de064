// launches.cu: reports what the wrapper launches, on both backends. The only file here that is
// CUDA.
#include <cuda_runtime.h>
#include <string.h>

#include "../../cuda/program/kernel_name.h"
#include "report.h"

static struct report *report; // null: launches are not reported

static void name_of(const void *kernel, char *name, size_t bytes) {
    const char *symbol = NULL;
#if defined CUDA_EMULATOR || CUDART_VERSION >= 12040
    if (cudaFuncGetName(&symbol, kernel) != cudaSuccess) cudaGetLastError();
#endif
    kernel_name(symbol ? symbol : "kernel", name, bytes);
}

static void launched(const void *kernel, dim3 grid, dim3 block, size_t shared) {
    if (!report) return;
    struct finding_launch shape = {};
    cudaFuncAttributes attributes = {};
    if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) cudaGetLastError();
    name_of(kernel, shape.kernel, sizeof shape.kernel);
    const unsigned extents[][3] = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}};
    memcpy(shape.grid, extents[0], sizeof shape.grid);
    memcpy(shape.block, extents[1], sizeof shape.block);
    shape.static_bytes = attributes.sharedSizeBytes;
    shape.shared_bytes = shared;
    if (report_launch(report, &shape)) watchdog_launched();
}

void report_launches_to(struct report *to) {
    report = to;
#ifdef CUDA_EMULATOR
    emulator_on_launch(to ? launched : NULL);
    emulator_on_message(watchdog_end_line);
#endif
}

#ifndef CUDA_EMULATOR
// The linker sends the launches of kernel.cu here first (--wrap, in ../Makefile).
extern "C" {
cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream) {
    launched(kernel, grid, block, shared);
    return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

#if CUDART_VERSION >= 11080 // what cudaLaunchKernelEx() calls
cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **arguments) {
    launched(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes);
    return __real_cudaLaunchKernelExC(config, kernel, arguments);
}
#endif

#if CUDART_VERSION >= 13000 // since when kernel<<<...>>> calls this
cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                      size_t shared, cudaStream_t stream) {
    launched((const void *)kernel, grid, block, shared);
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
#endif
}
#endif
