/* Whether the machine code in this program is that of the GPU at hand. For .cu files that are
 * linked with a submission: nvcc compiles both with one -code=sm_XX, so what holds for a kernel of
 * ours holds for the submission's, and it is known before any code of the submission's runs. */
#ifndef WORKER_NATIVE_CODE_H
#define WORKER_NATIVE_CODE_H
#include <cuda_runtime.h>
#include <stdio.h>

static __global__ void native_code_probe(void) {}

/* NULL: it is. Else why not, in one line: the machine's fault. */
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
