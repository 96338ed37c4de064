/* Who sees an error when: cudaGetLastError forgets what it tells, cudaPeekAtLastError does not, a
 * good call does not clear an earlier error, and an error that nobody ran into a kernel for loses
 * nothing (CUDA Runtime API reference, "Error Handling"). */
#include "check.h"

__global__ void add(int *x) { atomicAdd(x, 1); }

int main() {
    int *x = visible<int>(1);
    EXPECT(cudaGetLastError(), cudaSuccess);
    EXPECT(cudaPeekAtLastError(), cudaSuccess);

    /* An impossible launch: the launch statement itself says nothing, nothing runs. */
    add<<<1, 2000>>>(x);
    EXPECT(cudaPeekAtLastError(), IMPOSSIBLE_CONFIGURATION);
    EXPECT(cudaPeekAtLastError(), IMPOSSIBLE_CONFIGURATION);
    EXPECT(cudaGetLastError(), IMPOSSIBLE_CONFIGURATION);
    EXPECT(cudaGetLastError(), cudaSuccess);
    OK(cudaDeviceSynchronize());
    EXPECT(*x, 0);

    /* It stays until asked for, over good launches and calls, and harms them not. */
    add<<<0, 1>>>(x);
    add<<<1, 1>>>(x);
    OK(cudaDeviceSynchronize());
    EXPECT(*x, 1);
    int *more;
    OK(cudaMalloc(&more, 4));
    OK(cudaFree(more));
    EXPECT(cudaGetLastError(), IMPOSSIBLE_CONFIGURATION);
    EXPECT(cudaGetLastError(), cudaSuccess);

    /* A bad call returns its error and leaves it for cudaGetLastError, too. The last one counts. */
    EXPECT(cudaMemcpy(x, x, 4, (cudaMemcpyKind)99), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaPeekAtLastError(), cudaErrorInvalidMemcpyDirection);
    EXPECT(cudaSetDevice(1000), cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError(), cudaErrorInvalidDevice);
    EXPECT(cudaGetLastError(), cudaSuccess);

    EXPECT(cudaGetErrorName(cudaErrorInvalidConfiguration), "cudaErrorInvalidConfiguration");
    EXPECT(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument");
    EXPECT(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    EXPECT(cudaGetErrorString(cudaSuccess), "no error");
    EXPECT(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered");
    EXPECT(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
    EXPECT(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
    EXPECT(cudaGetErrorString((cudaError_t)123456), "unrecognized error code");

    RUN();
    RUN(add<<<1, 1>>>(x));
    EXPECT(*x, 2);
    return verdict();
}
