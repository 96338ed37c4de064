/* __CUDA_ARCH__: the compute capability in what only the device runs. */
#include "check.h"

#ifdef __CUDA_ARCH__
#define SIDE 1
#else
#define SIDE 2
#endif

__device__ int side() { return SIDE; }

template <class T> __global__ void kernel(T *out) {
#ifdef __CUDA_ARCH__
    out[0] = __CUDA_ARCH__;
    if (__CUDA_ARCH__ >= 300) {
#else
    {
        out[0] = -1;
#endif
        out[1] = side();
        out[2] = __LINE__;
    }
}

int main() {
    int *out = visible<int>(3), major, minor;
    RUN(kernel<<<1, 1>>>(out));
    OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    OK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    EXPECT_EACH(out, major * 100 + minor * 10, 1, 21);
    EXPECT(__LINE__, 31);
    return verdict();
}
