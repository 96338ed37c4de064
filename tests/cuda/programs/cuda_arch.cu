/* __CUDA_ARCH__: the compute capability in what only the device runs, undefined in what only the
 * host does. nvcc reads main() in its pass for the device, too, so what main() calls has to be
 * declared there, or be hidden from it. */
#include "check.h"

#ifdef __CUDA_ARCH__
#define SIDE 1
#else
#define SIDE 2
#include <vector>
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

#ifndef __CUDA_ARCH__
static int only_for_the_host() { return (int)std::vector<int>(SIDE).size(); }
#endif

int main() {
    int of_the_host = -1;
#ifndef __CUDA_ARCH__
    of_the_host = only_for_the_host();
#endif
    int *out = visible<int>(3), major, minor;
    RUN(kernel<<<1, 1>>>(out));
    OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
    OK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0));
    EXPECT_EACH(out, major * 100 + minor * 10, 1, 24);
    EXPECT(of_the_host, 2);
    EXPECT(__LINE__, 43);
    return verdict();
}
