/* What host code may ask and wish about a kernel. */
#include "check.h"

__global__ void plain(int *x) { *x = 1; }
__global__ void with_shared(int *x) {
    __shared__ int a[100];
    __shared__ double b[10];
    a[threadIdx.x] = b[threadIdx.x % 10] = threadIdx.x;
    __syncthreads();
    *x = a[0] + (int)b[0];
}
template <int N> __global__ void of_template(int *x) {
    __shared__ float tile[N][N];
    tile[threadIdx.x][0] = 1;
    __syncthreads();
    *x = tile[N - 1 - threadIdx.x][0];
}

int main() {
    cudaFuncAttributes a = {};
    OK(cudaFuncGetAttributes(&a, plain));
    EXPECT(a.sharedSizeBytes, (size_t)0);
    EXPECT(a.maxThreadsPerBlock, 1024);
    EXPECT(a.maxDynamicSharedSizeBytes, 48 * 1024);
    OK(cudaFuncGetAttributes(&a, with_shared));
    EXPECT(a.sharedSizeBytes, (size_t)480);
    EXPECT(a.maxDynamicSharedSizeBytes, 48 * 1024 - 480);
    OK(cudaFuncGetAttributes(&a, (const void *)of_template<32>));
    EXPECT(a.sharedSizeBytes, (size_t)4096);
    OK(cudaFuncGetAttributes(&a, of_template<16>));
    EXPECT(a.sharedSizeBytes, (size_t)1024);
    OK(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    OK(cudaFuncGetAttributes(&a, plain));
    EXPECT(a.maxDynamicSharedSizeBytes, 60000);

    int blocks = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared, 1024, 0));
    EXPECT(blocks, 2);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared, 100, 0));
    EXPECT(blocks, 16);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 50000));
    EXPECT(blocks, 4);
    EXPECT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0),
           cudaErrorInvalidValue);
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);

    OK(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferShared));
    OK(cudaFuncSetCacheConfig(of_template<16>, cudaFuncCachePreferL1));
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    RUN();
    return verdict();
}
