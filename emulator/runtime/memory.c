/* Device memory as CUDA's functions have it: how much there is, allocating, copying. */
#define _GNU_SOURCE
#include "runtime.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PITCH_BYTES = 512 /* rows of cudaMallocPitch, as on a real GPU */ };

static void (*copy_watcher)(const struct memory_copy *copy);

/* --- what there is -----------------------------------------------------------------------------
 */

static long long read_number(const char *path, const char *format) {
    long long value = -1;
    char line[256];
    FILE *file = fopen(path, "re");
    if (!file) return -1;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, format, &value) == 1) break;
    fclose(file);
    return value;
}

/* A container's limit, where one is set: control groups, version 2. */
static void apply_container_limit(size_t *free_bytes, size_t *total_bytes) {
    long long limit = read_number("/sys/fs/cgroup/memory.max", "%lld");
    long long used = read_number("/sys/fs/cgroup/memory.current", "%lld");
    if (limit <= 0 || used < 0) return;
    if ((size_t)limit < *total_bytes) *total_bytes = (size_t)limit;
    size_t left = limit > used ? (size_t)(limit - used) : 0;
    if (left < *free_bytes) *free_bytes = left;
}

/* The device's memory is this machine's. */
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    if (!free_bytes || !total_bytes) return error_set(cudaErrorInvalidValue);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    long long available = read_number("/proc/meminfo", "MemAvailable: %lld kB");
    *total_bytes = (size_t)sysconf(_SC_PHYS_PAGES) * page;
    *free_bytes =
        available >= 0 ? (size_t)available * 1024 : (size_t)sysconf(_SC_AVPHYS_PAGES) * page;
    apply_container_limit(free_bytes, total_bytes);
    return error_surface();
}

/* --- allocating and freeing ------------------------------------------------------------------- */

static bool fits(size_t bytes) {
    size_t free_bytes, total_bytes;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    return bytes <= free_bytes;
}

static cudaError_t allocate(void **pointer, size_t bytes, enum allocation_kind kind) {
    if (!pointer) return error_set(cudaErrorInvalidValue);
    if (far_device && kind != ALLOCATION_DEVICE) return error_set(cudaErrorNotSupported);
    if (far_device) return far_device->allocate(pointer, bytes);
    if (error_surface() != cudaSuccess) return error_sticky();
    *pointer = NULL;
    if (!bytes) return cudaSuccess;
    fault_install();
    if (fits(bytes)) *pointer = memory_allocate(bytes, kind);
    if (!*pointer) return error_set(cudaErrorMemoryAllocation);
    if (observer) observer->allocated(*pointer, bytes, kind == ALLOCATION_DEVICE);
    return cudaSuccess;
}

static cudaError_t release(void *pointer, bool pinned) {
    if (far_device) return far_device->release(pointer);
    if (error_surface() != cudaSuccess) return error_sticky();
    if (!pointer || memory_free(pointer, pinned)) return cudaSuccess;
    return error_set(cudaErrorInvalidValue);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) {
    return allocate(pointer, bytes, ALLOCATION_DEVICE);
}

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return error_set(cudaErrorInvalidValue);
    return allocate(pointer, bytes, ALLOCATION_MANAGED);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    return allocate(pointer, bytes, ALLOCATION_PINNED);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
    (void)flags; /* all host memory can be reached by kernels here */
    return allocate(pointer, bytes, ALLOCATION_PINNED);
}

cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height) {
    size_t bytes;
    if (!pitch || width > SIZE_MAX - PITCH_BYTES) return error_set(cudaErrorInvalidValue);
    *pitch = (width + PITCH_BYTES - 1) / PITCH_BYTES * PITCH_BYTES;
    if (__builtin_mul_overflow(*pitch, height, &bytes)) return error_set(cudaErrorInvalidValue);
    return cudaMalloc(pointer, bytes);
}

cudaError_t cudaFree(void *pointer) { return release(pointer, false); }
cudaError_t cudaFreeHost(void *pointer) { return release(pointer, true); }

/* --- copying ---------------------------------------------------------------------------------- */

/* One end of a copy must be where the direction says: inside one device allocation, or not in
 * device memory at all. Pinned and managed memory is both. */
static bool end_fits(const void *address, size_t bytes, bool on_device) {
    switch (allocation_kind_of(address, bytes)) {
    case ALLOCATION_DEVICE: return on_device;
    case ALLOCATION_NONE: return !on_device && !memory_is_device(address);
    default: return true;
    }
}

static cudaError_t check_copy(const void *to, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!to || !from) return cudaErrorInvalidValue;
    if (kind == cudaMemcpyDefault) {
        to_device = memory_is_device(to);
        from_device = memory_is_device(from);
    }
    if (!end_fits(to, bytes, to_device) || !end_fits(from, bytes, from_device))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

void memory_watch_copies(void (*watcher)(const struct memory_copy *copy)) {
    copy_watcher = watcher;
}

static void report_copy(const char *to, const char *from, size_t bytes) {
    const struct memory_copy copy = {to, from, bytes, memory_is_device(to), memory_is_device(from)};
    if (copy_watcher) copy_watcher(&copy);
}

static cudaError_t copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind) {
    if (far_device) return far_device->copy(to, to_pitch, from, from_pitch, width, height, kind);
    if (error_surface() != cudaSuccess) return error_sticky();
    if (!width || !height) return cudaSuccess;
    const size_t last = height - 1;
    cudaError_t error = check_copy(to, from, width, kind);
    if (error == cudaSuccess)
        error = check_copy(to + last * to_pitch, from + last * from_pitch, width, kind);
    if (error != cudaSuccess) return error_set(error);
    report_copy(to, from, last * to_pitch + width);
    memory_open();
    for (size_t row = 0; row < height; ++row)
        memmove(to + row * to_pitch, from + row * from_pitch, width);
    memory_close();
    for (size_t row = 0; observer && row < height; ++row)
        observer->copied(to + row * to_pitch, width);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return copy_rows(to, bytes, from, bytes, bytes, 1, kind);
}

/* The copies to and from __device__ and __constant__ variables, which are the program's own. */
cudaError_t emulator_copy_symbol(void *to, const void *from, size_t bytes, size_t offset,
                                 size_t symbol_bytes, enum cudaMemcpyKind kind,
                                 enum cudaMemcpyKind between_sides) {
    if (worker_in_kernel())
        fault_raise(cudaErrorNotSupported, "a kernel cannot call cudaMemcpyToSymbol or "
                                           "cudaMemcpyFromSymbol; host code can");
    if (offset > symbol_bytes || bytes > symbol_bytes - offset)
        return error_set(cudaErrorInvalidValue);
    if (kind != between_sides && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return error_set(cudaErrorInvalidMemcpyDirection);
    if (far_device) return far_device->copy_to_symbol(to, from, bytes);
    return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream) {
    (void)stream;
    return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind) {
    if (width > to_pitch || width > from_pitch) return error_set(cudaErrorInvalidPitchValue);
    return copy_rows(to, to_pitch, from, from_pitch, width, height, kind);
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height) {
    if (far_device) return far_device->set(pointer, pitch, value, width, height);
    if (error_surface() != cudaSuccess) return error_sticky();
    if (!width || !height) return cudaSuccess;
    if (width > pitch) return error_set(cudaErrorInvalidValue);
    if (allocation_kind_of(pointer, (height - 1) * pitch + width) == ALLOCATION_NONE)
        return error_set(cudaErrorInvalidValue);
    memory_open();
    for (size_t row = 0; row < height; ++row) memset((char *)pointer + row * pitch, value, width);
    memory_close();
    for (size_t row = 0; observer && row < height; ++row)
        observer->copied((char *)pointer + row * pitch, width);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes) {
    return cudaMemset2D(pointer, bytes, value, bytes, 1);
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) {
    (void)stream;
    return cudaMemset(pointer, value, bytes);
}
