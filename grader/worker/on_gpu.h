/* For .cu files that are linked with a submission, for a GPU. */
#ifndef WORKER_ON_GPU_H
#define WORKER_ON_GPU_H
#include <cuda_runtime.h>
#include <stdio.h>

/* A call of the runtime, which the linker sends here first (--wrap; ../grader.mk reads the names
 * from the lines that begin with WRAP): `before` is done, and then the call. `result`: a function
 * that is given what the call returns and returns it, or nothing. */
#define WRAP(name, parameters, arguments, before, result)                                          \
    extern "C" cudaError_t __real_##name parameters;                                               \
    extern "C" cudaError_t __wrap_##name parameters {                                              \
        before;                                                                                    \
        return result(__real_##name arguments);                                                    \
    }

/* A call and the one of its name with Async, whose `stream` is NULL in the other. */
#define LIST(...) __VA_ARGS__
#define WRAP_BOTH(name, parameters, arguments, before)                                             \
    WRAP(name, (parameters), (arguments), const cudaStream_t stream = NULL; before, )              \
    WRAP(name##Async, (parameters, cudaStream_t stream), (arguments, stream), before, )

/* Whether CUDA knows it as the device's. */
static bool points_to_device(const void *pointer) {
    cudaPointerAttributes about;
    if (cudaPointerGetAttributes(&about, pointer) == cudaSuccess)
        return about.type == cudaMemoryTypeDevice;
    cudaGetLastError(); /* the submission must not see this error */
    return false;
}

static __global__ void native_code_probe(void) {}

/* NULL: the machine code in this program is that of the GPU at hand. Else why not, in one line: the
 * machine's fault. nvcc compiles the submission with the same -code=sm_XX, so what holds for a
 * kernel of ours holds for the submission's, and it is known before any code of the submission's
 * runs. */
static const char *native_code_problem(void) {
    static char text[160];
    int major, minor;
    cudaFuncAttributes about = {};
    cudaError_t error = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    if (error == cudaSuccess) error = cudaFuncGetAttributes(&about, native_code_probe);
    if (error == cudaSuccess && about.binaryVersion == 10 * major + minor) return NULL;
    if (error == cudaSuccess || error == cudaErrorNoKernelImageForDevice)
        snprintf(text, sizeof text, "kernels were compiled for another GPU than this sm_%d%d",
                 major, minor);
    else
        snprintf(text, sizeof text, "the GPU: %s", cudaGetErrorString(error));
    return text;
}

#endif
