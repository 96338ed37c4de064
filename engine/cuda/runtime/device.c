/* The device: its properties and limits, streams, events, and what is known of each kernel.
 *
 * Streams exist and do nothing: every operation is done when its call returns. */
#define _GNU_SOURCE
#include "../../report/text/text.h"
#include "runtime.h"
#include <sched.h>
#include <time.h>

/* --- synchronizing ---------------------------------------------------------------------------- */

cudaError_t cudaDeviceSynchronize(void) { return error_surface(); }

/* Frees what has been allocated. A lost context stays lost: the workers parked in the faulty kernel
 * cannot be recovered. */
cudaError_t cudaDeviceReset(void) {
    bool pinned;
    for (void *last; (last = memory_last(&pinned));) {
        const cudaError_t error = pinned ? cudaFreeHost(last) : cudaFree(last);
        if (error != cudaSuccess) return error;
    }
    return error_surface();
}

/* --- properties ------------------------------------------------------------------------------- */

int cpu_count(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    return 1;
}

cudaError_t cudaGetDeviceCount(int *count) {
    if (!count) return error_set(cudaErrorInvalidValue);
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    return device == 0 ? error_surface() : error_set(cudaErrorInvalidDevice);
}

cudaError_t cudaGetDevice(int *device) {
    if (!device) return error_set(cudaErrorInvalidValue);
    *device = 0;
    return error_surface();
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
    (void)config; /* a hint, and there is no such cache */
    return error_surface();
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
    if (!properties) return error_set(cudaErrorInvalidValue);
    if (device != 0) return error_set(cudaErrorInvalidDevice);
    size_t free_bytes = 0, total_bytes = 0;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    *properties = (struct cudaDeviceProp){
        .totalGlobalMem = total_bytes,
        .sharedMemPerBlock = SHARED_PER_BLOCK,
        .regsPerBlock = REGISTERS,
        .warpSize = WARP_SIZE,
        .memPitch = MAX_PITCH,
        .maxThreadsPerBlock = MAX_BLOCK_THREADS,
        .maxThreadsDim = {MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z},
        .maxGridSize = {MAX_GRID_X, MAX_GRID_Y, MAX_GRID_Z},
        .totalConstMem = CONSTANT_MEMORY,
        .major = 9,
        .minor = 0,
        .textureAlignment = 512,
        .multiProcessorCount = cpu_count(),
        .integrated = 1,
        .canMapHostMemory = 1,
        .concurrentKernels = 1,
        .asyncEngineCount = 1,
        .unifiedAddressing = 1,
        .maxThreadsPerMultiProcessor = THREADS_PER_MULTIPROCESSOR,
        .managedMemory = 1,
        .sharedMemPerMultiprocessor = SHARED_PER_MULTIPROCESSOR,
        .regsPerMultiprocessor = REGISTERS,
        .maxBlocksPerMultiProcessor = BLOCKS_PER_MULTIPROCESSOR,
        .sharedMemPerBlockOptin = SHARED_PER_BLOCK_OPTIN,
        .reservedSharedMemPerBlock = SHARED_RESERVED,
    };
    snprintf(properties->name, sizeof properties->name, "CPU backend (%d core%s)", cpu_count(),
             cpu_count() == 1 ? "" : "s");
    return error_surface();
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
    struct cudaDeviceProp p;
    if (!value) return error_set(cudaErrorInvalidValue);
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess) return error;
    switch (attribute) {
#define GET(name, number, property)                                                                \
    case name: *value = (int)p.property; return cudaSuccess;
        EMULATOR_DEVICE_ATTRIBUTES(GET)
    }
    return error_set(cudaErrorInvalidValue);
}

/* --- streams ---------------------------------------------------------------------------------- */

/* Of streams and events: those that there are. What the program hands over as one may be an address
 * that is none, or of one that it has destroyed. */
struct handle {
    struct handle *next;
    bool is_stream;
};
static struct handle *handles;
static pthread_mutex_t handles_lock = PTHREAD_MUTEX_INITIALIZER;

struct CUstream_st {
    struct handle handle; /* first */
};
struct CUevent_st {
    struct handle handle; /* first */
    bool recorded, timing;
    struct timespec when;
};

static void *handle_new(size_t bytes, bool is_stream) {
    struct handle *made = calloc(1, bytes);
    if (!made) return NULL;
    made->is_stream = is_stream;
    pthread_mutex_lock(&handles_lock);
    made->next = handles;
    handles = made;
    pthread_mutex_unlock(&handles_lock);
    return made;
}

/* Whether there is this one; if so and if it is to be removed, it is the caller's afterwards. */
static bool handle_find(const void *sought, bool is_stream, bool remove) {
    pthread_mutex_lock(&handles_lock);
    struct handle **link = &handles;
    while (*link && !(*link == sought && (*link)->is_stream == is_stream)) link = &(*link)->next;
    const bool found = *link != NULL;
    if (found && remove) *link = (*link)->next;
    pthread_mutex_unlock(&handles_lock);
    return found;
}

bool stream_exists(cudaStream_t stream) {
    return stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
           handle_find(stream, true, false);
}

static cudaError_t check_stream(cudaStream_t stream) {
    return stream_exists(stream) ? error_surface() : error_set(cudaErrorInvalidResourceHandle);
}

static cudaError_t check_event(cudaEvent_t event) {
    return handle_find(event, false, false) ? cudaSuccess
                                            : error_set(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    if (!stream || flags > cudaStreamNonBlocking) return error_set(cudaErrorInvalidValue);
    *stream = handle_new(sizeof **stream, true);
    return *stream ? error_surface() : error_set(cudaErrorMemoryAllocation);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (!handle_find(stream, true, true)) return error_set(cudaErrorInvalidResourceHandle);
    free(stream);
    return error_surface();
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return check_stream(stream); }
cudaError_t cudaStreamQuery(cudaStream_t stream) { return check_stream(stream); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
    enum { FLAGS = 1 }; /* cudaEventWaitExternal */
    if (flags > FLAGS) return error_set(cudaErrorInvalidValue);
    return check_event(event) == cudaSuccess ? check_stream(stream)
                                             : cudaErrorInvalidResourceHandle;
}

/* --- what is done in a stream ----------------------------------------------------------------- */

/* There is no pool: it is the same memory. */
cudaError_t cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t stream) {
    const cudaError_t error = check_stream(stream);
    return error != cudaSuccess ? error : cudaMalloc(pointer, bytes);
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
    const cudaError_t error = check_stream(stream);
    return error != cudaSuccess ? error : cudaFree(pointer);
}

/* Host and device have the same memory. */
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned int flags, cudaStream_t stream) {
    const bool managed =
        allocation_kind_of(pointer, bytes) == ALLOCATION_MANAGED || place_in_image(pointer);
    const cudaError_t error = check_stream(stream);
    if (error != cudaSuccess) return error;
    if (location.type == cudaMemLocationTypeDevice && location.id != 0)
        return error_set(cudaErrorInvalidDevice);
    if (!bytes || !managed || flags || location.type == cudaMemLocationTypeInvalid)
        return error_set(cudaErrorInvalidValue);
    return error_surface();
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    const cudaError_t error = check_stream(stream);
    return error != cudaSuccess ? error : cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream) {
    const cudaError_t error = check_stream(stream);
    return error != cudaSuccess ? error
                                : cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) {
    const cudaError_t error = check_stream(stream);
    return error != cudaSuccess ? error : cudaMemset(pointer, value, bytes);
}

cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
    const cudaError_t error = check_stream(stream);
    return error != cudaSuccess ? error : cudaMemset2D(pointer, pitch, value, width, height);
}

/* --- events ----------------------------------------------------------------------------------- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    enum { FLAGS = cudaEventBlockingSync | cudaEventDisableTiming | 4 /* cudaEventInterprocess */ };
    if (!event || flags > FLAGS) return error_set(cudaErrorInvalidValue);
    *event = handle_new(sizeof **event, false);
    if (!*event) return error_set(cudaErrorMemoryAllocation);
    (*event)->timing = !(flags & cudaEventDisableTiming);
    return error_surface();
}

cudaError_t cudaEventCreate(cudaEvent_t *event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (!handle_find(event, false, true)) return error_set(cudaErrorInvalidResourceHandle);
    free(event);
    return error_surface();
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    if (check_event(event) != cudaSuccess) return cudaErrorInvalidResourceHandle;
    const cudaError_t error = check_stream(stream);
    if (error == cudaErrorInvalidResourceHandle) return error;
    clock_gettime(CLOCK_MONOTONIC, &event->when);
    event->recorded = true;
    return error;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return check_event(event) == cudaSuccess ? error_surface() : cudaErrorInvalidResourceHandle;
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t stop) {
    if (!milliseconds) return error_set(cudaErrorInvalidValue);
    if (check_event(start) != cudaSuccess || check_event(stop) != cudaSuccess)
        return cudaErrorInvalidResourceHandle;
    if (!start->recorded || !stop->recorded || !start->timing || !stop->timing)
        return error_set(cudaErrorInvalidResourceHandle);
    *milliseconds = (float)((double)(stop->when.tv_sec - start->when.tv_sec) * 1e3 +
                            (double)(stop->when.tv_nsec - start->when.tv_nsec) * 1e-6);
    return error_surface();
}

/* Where a kernel is observed, time would tell it whether its accesses fault: the clock shows how
 * often its block has read it, and advances by a microsecond each time. Of all blocks together, it
 * would hand sums on from those whose loads are not counted. */
long long emulator_clock(void) {
    struct timespec now;
    if (observer && worker_in_kernel()) return this_worker->clock += 1000;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* The limit set by cudaFuncSetAttribute; the name and static shared memory, looked up once. */
static struct function {
    struct function *next;
    const void *kernel;
    char name[256];
    size_t static_shared, dynamic_limit;
} * functions;
static pthread_mutex_t functions_lock = PTHREAD_MUTEX_INITIALIZER;

/* Null: `kernel` is null, or memory is lacking. */
static struct function *function_find(const void *kernel) {
    struct function *f;
    pthread_mutex_lock(&functions_lock);
    for (f = functions; f && f->kernel != kernel; f = f->next) continue;
    if (kernel && !f && (f = calloc(1, sizeof *f))) {
        f->kernel = kernel;
        image_symbol_name(kernel, f->name, sizeof f->name);
        f->static_shared = image_static_shared(kernel);
        f->dynamic_limit =
            f->static_shared < SHARED_PER_BLOCK ? SHARED_PER_BLOCK - f->static_shared : 0;
        f->next = functions;
        functions = f;
    }
    pthread_mutex_unlock(&functions_lock);
    return f;
}

cudaError_t function_check_shared(const void *kernel, size_t dynamic_bytes) {
    struct function *f = function_find(kernel);
    if (!f) return cudaErrorMemoryAllocation;
    return dynamic_bytes <= f->dynamic_limit ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute attribute, int value) {
    struct function *f = function_find(kernel);
    if (!f) return error_set(cudaErrorInvalidDeviceFunction);
    if (far_device) {
        cudaError_t error = far_device->set_attribute(kernel, attribute, value);
        if (error != cudaSuccess) return error; /* else it is kept here, too, to be asked for */
    }
    const bool is_limit = attribute == cudaFuncAttributeMaxDynamicSharedMemorySize && value >= 0 &&
                          (size_t)value + f->static_shared <= SHARED_PER_BLOCK_OPTIN;
    const bool is_hint = attribute == cudaFuncAttributePreferredSharedMemoryCarveout &&
                         value >= cudaSharedmemCarveoutDefault &&
                         value <= cudaSharedmemCarveoutMaxShared;
    if (is_limit) f->dynamic_limit = (size_t)value;
    return is_limit || is_hint ? error_surface() : error_set(cudaErrorInvalidValue);
}

cudaError_t cudaFuncSetCacheConfig(const void *kernel, enum cudaFuncCache config) {
    (void)config;
    return kernel ? error_surface() : error_set(cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *kernel) {
    struct function *f = function_find(kernel);
    if (!attributes) return error_set(cudaErrorInvalidValue);
    if (!f) return error_set(cudaErrorInvalidDeviceFunction);
    *attributes = (struct cudaFuncAttributes){
        .sharedSizeBytes = f->static_shared,
        .maxThreadsPerBlock = MAX_BLOCK_THREADS,
        .ptxVersion = 90,
        .binaryVersion = 90,
        .maxDynamicSharedSizeBytes = (int)f->dynamic_limit,
    };
    return error_surface();
}

cudaError_t cudaFuncGetName(const char **name, const void *kernel) {
    struct function *f = function_find(kernel);
    if (!name) return error_set(cudaErrorInvalidValue);
    if (!f || !f->name[0]) return error_set(cudaErrorInvalidDeviceFunction);
    *name = f->name;
    return cudaSuccess;
}

/* As far as threads and shared memory allow; registers, which are not counted here, may allow fewer
 * on a GPU. */
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *kernel,
                                                          int threads, size_t dynamic_bytes) {
    struct function *f = function_find(kernel);
    if (!blocks || threads < 1) return error_set(cudaErrorInvalidValue);
    if (!f) return error_set(cudaErrorInvalidDeviceFunction);
    int in_whole_warps = (threads + WARP_SIZE - 1) / WARP_SIZE * WARP_SIZE;
    size_t shared = f->static_shared + dynamic_bytes + SHARED_RESERVED;
    int most = THREADS_PER_MULTIPROCESSOR / in_whole_warps;
    if (most > BLOCKS_PER_MULTIPROCESSOR) most = BLOCKS_PER_MULTIPROCESSOR;
    if ((size_t)most > SHARED_PER_MULTIPROCESSOR / shared)
        most = (int)(SHARED_PER_MULTIPROCESSOR / shared);
    if (threads > MAX_BLOCK_THREADS || dynamic_bytes > f->dynamic_limit) most = 0;
    *blocks = most;
    return error_surface();
}
