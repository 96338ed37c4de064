/* What host code asks about the device before it chooses a configuration. */
#include "check.h"

#if !defined __CUDA_RUNTIME_H__ || !defined __CUDA_RUNTIME_API_H__ || !defined __DRIVER_TYPES_H__
#error "headers that ask for these leave out what they have for CUDA's runtime"
#endif

static int attribute(cudaDeviceAttr which) {
    int value = 0;
    OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

int main() {
    int count = 0, device = -1, version = 0;
    OK(cudaGetDeviceCount(&count));
    CHECK(count >= 1);
    OK(cudaSetDevice(0));
    OK(cudaGetDevice(&device));
    EXPECT(device, 0);

    cudaDeviceProp prop;
    OK(cudaGetDeviceProperties(&prop, 0));
    CHECK(strlen(prop.name) > 0);
    EXPECT(prop.warpSize, 32);
    EXPECT(prop.maxThreadsPerBlock, 1024);
    EXPECT_EACH(prop.maxThreadsDim, 1024, 1024, 64);
    EXPECT_EACH(prop.maxGridSize, 2147483647, 65535, 65535);
    EXPECT(prop.sharedMemPerBlock, (size_t)48 * 1024);
    EXPECT(prop.totalConstMem, (size_t)64 * 1024);
    EXPECT(prop.regsPerBlock, 65536);
    CHECK(prop.multiProcessorCount >= 1);
    CHECK(prop.totalGlobalMem > (size_t)100 << 20);
    CHECK(prop.major >= 5 && prop.minor >= 0);
    CHECK(prop.sharedMemPerBlockOptin >= prop.sharedMemPerBlock);
    CHECK(prop.maxThreadsPerMultiProcessor >= 1024 && prop.maxBlocksPerMultiProcessor >= 8);
    CHECK(prop.unifiedAddressing == 1 && prop.managedMemory == 1);
    CHECK(prop.l2CacheSize >= 0 && prop.memoryBusWidth >= 0);

    EXPECT(attribute(cudaDevAttrMaxThreadsPerBlock), 1024);
    EXPECT(attribute(cudaDevAttrMultiProcessorCount), prop.multiProcessorCount);
    EXPECT(attribute(cudaDevAttrComputeCapabilityMajor), prop.major);
    EXPECT(attribute(cudaDevAttrMaxSharedMemoryPerBlock), (int)prop.sharedMemPerBlock);
    EXPECT(attribute(cudaDevAttrIntegrated), prop.integrated);
    EXPECT(attribute(cudaDevAttrL2CacheSize), prop.l2CacheSize);
    EXPECT(attribute(cudaDevAttrMaxBlocksPerMultiprocessor), prop.maxBlocksPerMultiProcessor);
    CHECK(attribute(cudaDevAttrComputeMode) != cudaComputeModeProhibited);
    CHECK(attribute(cudaDevAttrClockRate) >= 0);
    OK(cudaDriverGetVersion(&version));
    CHECK(version >= 11000);
    OK(cudaRuntimeGetVersion(&version));
    EXPECT(version, CUDART_VERSION);

    EXPECT(cudaSetDevice(count), cudaErrorInvalidDevice);
    EXPECT(cudaSetDevice(-1), cudaErrorInvalidDevice);
    FAILS(cudaGetDeviceProperties(&prop, count), cudaErrorInvalidDevice);
    return verdict();
}
