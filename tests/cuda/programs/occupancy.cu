/* What host code may ask and wish about a kernel; and launch configurations that CUDA proposes:
 * whole warps, no more than a multiprocessor holds. */
#include "check.h"

__global__ void plain(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}

template <int N> __global__ void with_shared(float *x) {
    __shared__ float s[N];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = s[N - 1 - threadIdx.x];
}

extern __shared__ float dynamic[];
__global__ void with_dynamic(float *x) { dynamic[threadIdx.x] = x[threadIdx.x]; }

static void proposals() {
    int grid = 0, block = 0, blocks = 0;
    cudaDeviceProp device;
    OK(cudaGetDeviceProperties(&device, 0));
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain));
    CHECK(block >= 32 && block <= 1024 && block % 32 == 0);
    CHECK(grid >= device.multiProcessorCount && grid % device.multiProcessorCount == 0);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, block, 0));
    EXPECT(grid, blocks * device.multiProcessorCount);
    CHECK(blocks * block <= device.maxThreadsPerMultiProcessor);

    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, plain, 0, 128)); /* at most so many */
    EXPECT(block, 128);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, with_shared<8192>, 0, 0));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared<8192>, block, 0));
    CHECK(blocks >= 1 && blocks <= 7); /* of 32 KB */
    EXPECT(grid, blocks * device.multiProcessorCount);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, with_dynamic, 40 * 1024));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_dynamic, block, 40 * 1024));
    EXPECT(grid, blocks * device.multiProcessorCount);
}

static void attributes() {
    int blocks = 0;
    cudaFuncAttributes a = {};
    OK(cudaFuncGetAttributes(&a, plain));
    EXPECT(a.sharedSizeBytes, (size_t)0);
    EXPECT(a.maxThreadsPerBlock, 1024);
    EXPECT(a.maxDynamicSharedSizeBytes, 48 * 1024);
    OK(cudaFuncGetAttributes(&a, (const void *)with_shared<120>));
    EXPECT(a.sharedSizeBytes, (size_t)480);
    EXPECT(a.maxDynamicSharedSizeBytes, 48 * 1024 - 480);
    OK(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    OK(cudaFuncGetAttributes(&a, plain));
    EXPECT(a.maxDynamicSharedSizeBytes, 60000);

    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared<120>, 1024, 0));
    EXPECT(blocks, 2);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, with_shared<120>, 100, 0));
    EXPECT(blocks, 16);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 32, 50000));
    EXPECT(blocks, 4);
    FAILS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, plain, 0, 0),
          cudaErrorInvalidValue);

    OK(cudaFuncSetCacheConfig(plain, cudaFuncCachePreferShared));
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    RUN();
}

int main() {
    proposals();
    attributes();
    return verdict();
}
