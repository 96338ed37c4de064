/* The CUDA runtime API as C declares it: the part that kernels' host code uses. Read by C (the
 * runtime) and C++ (the student's kernel).
 *
 * Every function is NVIDIA's of the same name and returns NVIDIA's error codes; ../runtime/ says at
 * each what it does differently. All work is done when a call returns: streams
 * and events exist, but nothing runs behind the caller's back. */
#ifndef EMULATOR_CUDA_RUNTIME_API_H
#define EMULATOR_CUDA_RUNTIME_API_H
#include "../../report/cuda_errors.def"
#include "vector_types.h"
#include <stddef.h>

#define CUDART_VERSION 13000 /* whose error codes these are */

/* By these other headers ask which of NVIDIA's have been read. */
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__

/* --- types, with NVIDIA's names and numbers (CUDA Runtime API reference, "Data types") -------- */

#define EMULATOR_ROW(name, number, text) name = number,
typedef enum cudaError { EMULATOR_CUDA_ERRORS(EMULATOR_ROW) } cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaFuncCache {
    cudaFuncCachePreferNone = 0,
    cudaFuncCachePreferShared = 1,
    cudaFuncCachePreferL1 = 2,
    cudaFuncCachePreferEqual = 3
};
enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxL1 = 0,
    cudaSharedmemCarveoutMaxShared = 100
};
/* Each with the member of cudaDeviceProp that holds it. */
#define EMULATOR_DEVICE_ATTRIBUTES(ROW)                                                            \
    ROW(cudaDevAttrMaxThreadsPerBlock, 1, maxThreadsPerBlock)                                      \
    ROW(cudaDevAttrMaxBlockDimX, 2, maxThreadsDim[0])                                              \
    ROW(cudaDevAttrMaxBlockDimY, 3, maxThreadsDim[1])                                              \
    ROW(cudaDevAttrMaxBlockDimZ, 4, maxThreadsDim[2])                                              \
    ROW(cudaDevAttrMaxGridDimX, 5, maxGridSize[0])                                                 \
    ROW(cudaDevAttrMaxGridDimY, 6, maxGridSize[1])                                                 \
    ROW(cudaDevAttrMaxGridDimZ, 7, maxGridSize[2])                                                 \
    ROW(cudaDevAttrMaxSharedMemoryPerBlock, 8, sharedMemPerBlock)                                  \
    ROW(cudaDevAttrTotalConstantMemory, 9, totalConstMem)                                          \
    ROW(cudaDevAttrWarpSize, 10, warpSize)                                                         \
    ROW(cudaDevAttrMaxPitch, 11, memPitch)                                                         \
    ROW(cudaDevAttrMaxRegistersPerBlock, 12, regsPerBlock)                                         \
    ROW(cudaDevAttrClockRate, 13, clockRate)                                                       \
    ROW(cudaDevAttrTextureAlignment, 14, textureAlignment)                                         \
    ROW(cudaDevAttrMultiProcessorCount, 16, multiProcessorCount)                                   \
    ROW(cudaDevAttrKernelExecTimeout, 17, kernelExecTimeoutEnabled)                                \
    ROW(cudaDevAttrIntegrated, 18, integrated)                                                     \
    ROW(cudaDevAttrCanMapHostMemory, 19, canMapHostMemory)                                         \
    ROW(cudaDevAttrComputeMode, 20, computeMode)                                                   \
    ROW(cudaDevAttrConcurrentKernels, 31, concurrentKernels)                                       \
    ROW(cudaDevAttrEccEnabled, 32, ECCEnabled)                                                     \
    ROW(cudaDevAttrPciBusId, 33, pciBusID)                                                         \
    ROW(cudaDevAttrPciDeviceId, 34, pciDeviceID)                                                   \
    ROW(cudaDevAttrMemoryClockRate, 36, memoryClockRate)                                           \
    ROW(cudaDevAttrGlobalMemoryBusWidth, 37, memoryBusWidth)                                       \
    ROW(cudaDevAttrL2CacheSize, 38, l2CacheSize)                                                   \
    ROW(cudaDevAttrMaxThreadsPerMultiProcessor, 39, maxThreadsPerMultiProcessor)                   \
    ROW(cudaDevAttrAsyncEngineCount, 40, asyncEngineCount)                                         \
    ROW(cudaDevAttrUnifiedAddressing, 41, unifiedAddressing)                                       \
    ROW(cudaDevAttrComputeCapabilityMajor, 75, major)                                              \
    ROW(cudaDevAttrComputeCapabilityMinor, 76, minor)                                              \
    ROW(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, sharedMemPerMultiprocessor)               \
    ROW(cudaDevAttrMaxRegistersPerMultiprocessor, 82, regsPerMultiprocessor)                       \
    ROW(cudaDevAttrManagedMemory, 83, managedMemory)                                               \
    ROW(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, sharedMemPerBlockOptin)                       \
    ROW(cudaDevAttrMaxBlocksPerMultiprocessor, 106, maxBlocksPerMultiProcessor)                    \
    ROW(cudaDevAttrReservedSharedMemoryPerBlock, 111, reservedSharedMemPerBlock)
#define EMULATOR_ATTRIBUTE(name, number, property) name = number,
enum cudaDeviceAttr { EMULATOR_DEVICE_ATTRIBUTES(EMULATOR_ATTRIBUTE) };
enum cudaComputeMode {
    cudaComputeModeDefault = 0,
    cudaComputeModeExclusive = 1,
    cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess = 3
};

typedef struct cudaUUID_t {
    char bytes[16];
} cudaUUID_t;

struct cudaDeviceProp {
    char name[256];
    cudaUUID_t uuid;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment;
    int multiProcessorCount;
    /* CUDA 13 dropped these four; older course code reads them. */
    int clockRate, memoryClockRate, kernelExecTimeoutEnabled, computeMode;
    int integrated, canMapHostMemory, concurrentKernels, ECCEnabled;
    int pciBusID, pciDeviceID, asyncEngineCount, unifiedAddressing;
    int memoryBusWidth, l2CacheSize, maxThreadsPerMultiProcessor, managedMemory;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, maxBlocksPerMultiProcessor;
    size_t sharedMemPerBlockOptin, reservedSharedMemPerBlock;
};
typedef struct cudaDeviceProp cudaDeviceProp;

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes;
};
typedef struct cudaFuncAttributes cudaFuncAttributes;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;

enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0,
    cudaMemLocationTypeDevice = 1,
    cudaMemLocationTypeHost = 2,
    cudaMemLocationTypeHostNuma = 3,
    cudaMemLocationTypeHostNumaCurrent = 4
};
struct cudaMemLocation {
    enum cudaMemLocationType type;
    int id;
};

#define cudaCpuDeviceId (-1)
#define cudaStreamDefault 0x00
#define cudaStreamNonBlocking 0x01
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
#define cudaEventDefault 0x00
#define cudaEventBlockingSync 0x01
#define cudaEventDisableTiming 0x02
#define cudaHostAllocDefault 0x00
#define cudaHostAllocPortable 0x01
#define cudaHostAllocMapped 0x02
#define cudaHostAllocWriteCombined 0x04
#define cudaMemAttachGlobal 0x01
#define cudaMemAttachHost 0x02

/* --- functions -------------------------------------------------------------------------------- */

#ifdef __cplusplus
#define EMULATOR_DEFAULT(value) = value
extern "C" {
#else
#define EMULATOR_DEFAULT(value)
#endif

/* Errors. */
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

/* Device: there is one, number 0. */
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);

/* Memory. */
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned int flags);
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream EMULATOR_DEFAULT(0));
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream EMULATOR_DEFAULT(0));
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream EMULATOR_DEFAULT(0));
cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes,
                            cudaStream_t stream EMULATOR_DEFAULT(0));
cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height);
cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream EMULATOR_DEFAULT(0));
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream);
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream);

/* Streams and events. */
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned int flags EMULATOR_DEFAULT(0));
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream EMULATOR_DEFAULT(0));
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop);

/* Kernels. */
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value);
cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel);
cudaError_t cudaFuncGetName(const char **name, const void *kernel); /* mangled */
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int threads, size_t dynamic_bytes);

/* What only the emulator has.
 *
 * Limit the time of each launch: a kernel still running after `seconds` is stopped, its location is
 * printed to stderr, and the next synchronizing call returns cudaErrorLaunchTimeout.
 * 0 means no limit, which is how a program starts. */
#define CUDA_EMULATOR 1
void emulator_time_limit(double seconds);

/* What the templates of these names call, which take the variable itself: __device__ and
 * __constant__ variables are ordinary ones here; only sizes are checked. */
cudaError_t cudaMemcpyToSymbol(void *symbol, size_t symbol_bytes, const void *from, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t symbol_bytes, size_t bytes,
                                 size_t offset, enum cudaMemcpyKind kind);
cudaError_t emulator_symbol_address(void **pointer, const void *symbol, size_t symbol_bytes);

/* Call `seen` at each launch, before it is checked; or no longer, with null. */
void emulator_on_launch(void (*seen)(const void *kernel, struct dim3 grid, struct dim3 block,
                                     size_t shared_bytes));

/* Call `begins` before a message goes to stderr, to end the line that is open on a terminal;
 * without it a newline does so. */
void emulator_on_message(void (*begins)(void));

/* The first call that failed since cudaGetLastError() was called, or the kernel that did: its
 * error, and, in words, its place and name: "kernel.cu:29: cudaMemcpy failed". cudaSuccess: none
 * failed. */
cudaError_t emulator_failed_call(char *text, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
