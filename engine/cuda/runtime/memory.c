/* Device memory as CUDA's functions have it: how much there is, allocating, copying. */
#define _GNU_SOURCE
#include "runtime.h"

enum { PITCH_BYTES = 512 /* rows of cudaMallocPitch, as on a real GPU */ };

/* The device's memory is this machine's. */
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    if (!free_bytes || !total_bytes) return error_set(cudaErrorInvalidValue);
    *free_bytes = memory_available(total_bytes);
    return error_surface();
}

/* --- allocating and freeing ------------------------------------------------------------------- */

static cudaError_t allocate(void **pointer, size_t bytes, enum allocation_kind kind) {
    if (!pointer) return error_set(cudaErrorInvalidValue);
    if (far_device && kind != ALLOCATION_DEVICE) return error_set(cudaErrorNotSupported);
    if (far_device) return far_device->allocate(pointer, bytes);
    if (error_surface() != cudaSuccess) return error_sticky();
    *pointer = NULL;
    if (!bytes) return cudaSuccess;
    fault_install();
    if (bytes <= memory_available(NULL)) *pointer = memory_allocate(bytes, kind);
    if (!*pointer) return error_set(cudaErrorMemoryAllocation);
    if (kind != ALLOCATION_DEVICE) symbol_host_reads();
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

/* Host and device have the same addresses. */
cudaError_t cudaHostGetDevicePointer(void **pointer, void *host, unsigned int flags) {
    if (!pointer || flags || allocation_kind_of(host, 1) != ALLOCATION_PINNED)
        return error_set(cudaErrorInvalidValue);
    *pointer = host;
    return error_surface();
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

/* Rows in memory, `pitch` bytes from one to the next. */
struct rows {
    const char *begin;
    size_t pitch, width, height; /* width and height are not 0 */
};

/* Bytes from the first to the last of the rows. False: so many that no memory has them. */
static bool rows_extent(const struct rows *rows, size_t *bytes) {
    size_t all;
    return !__builtin_mul_overflow(rows->height - 1, rows->pitch, bytes) &&
           !__builtin_add_overflow(*bytes, rows->width, bytes) &&
           !__builtin_add_overflow((uintptr_t)rows->begin, *bytes, &all);
}

/* One end of a copy must be inside one allocation; or, where the direction does not say that it is
 * the device's, outside of device memory. An H200 takes the device's memory, and pinned memory,
 * at either end, whatever the direction says. */
static bool end_fits(const struct rows *rows, bool on_device) {
    size_t bytes;
    if (!rows_extent(rows, &bytes)) return false;
    return allocation_kind_of(rows->begin, bytes) != ALLOCATION_NONE ||
           (!on_device && !memory_touches_device(rows->begin, bytes));
}

static cudaError_t check_copy(const struct rows *to, const struct rows *from,
                              enum cudaMemcpyKind kind) {
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if ((unsigned)kind > cudaMemcpyDefault) return cudaErrorInvalidMemcpyDirection;
    if (!to->begin || !from->begin) return cudaErrorInvalidValue;
    if (kind == cudaMemcpyDefault) {
        to_device = memory_is_device(to->begin);
        from_device = memory_is_device(from->begin);
    }
    return end_fits(to, to_device) && end_fits(from, from_device) ? cudaSuccess
                                                                  : cudaErrorInvalidValue;
}

static void (*copy_watcher)(const struct memory_copy *copy);

void memory_watch_copies(void (*watcher)(const struct memory_copy *)) { copy_watcher = watcher; }

/* Which end of a copy is a __device__ or __constant__ variable, which is the program's own memory.
 */
enum symbol_end { SYMBOL_NONE, SYMBOL_TO, SYMBOL_FROM };

static cudaError_t copy_rows(const struct rows *to, const struct rows *from,
                             enum cudaMemcpyKind kind, enum symbol_end symbol) {
    char *begin = (char *)to->begin;
    if (kind == cudaMemcpyDeviceToHost || (kind == cudaMemcpyDefault && symbol != SYMBOL_TO))
        symbol_host_reads();
    if (far_device)
        return far_device->copy(begin, to->pitch, from->begin, from->pitch, to->width, to->height,
                                kind);
    if (error_surface() != cudaSuccess) return error_sticky();
    if (!to->width || !to->height) return cudaSuccess;
    const cudaError_t error = check_copy(to, from, kind);
    if (error != cudaSuccess) return error_set(error);
    const struct memory_copy copy = {.to = begin,
                                     .from = from->begin,
                                     .bytes = (to->height - 1) * to->pitch + to->width,
                                     .to_device = memory_is_device(begin) || symbol == SYMBOL_TO,
                                     .from_device =
                                         memory_is_device(from->begin) || symbol == SYMBOL_FROM};
    if (copy_watcher) copy_watcher(&copy);
    memory_open();
    for (size_t row = 0; row < to->height; ++row)
        memmove(begin + row * to->pitch, from->begin + row * from->pitch, to->width);
    memory_close();
    for (size_t row = 0; observer && row < to->height; ++row)
        observer->copied(begin + row * to->pitch, from->begin + row * from->pitch, to->width,
                         symbol == SYMBOL_TO);
    return cudaSuccess;
}

static cudaError_t copy_bytes(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                              enum symbol_end symbol) {
    const struct rows written = {to, bytes, bytes, 1}, read = {from, bytes, bytes, 1};
    return copy_rows(&written, &read, kind, symbol);
}

/* The copies to and from __device__ and __constant__ variables, which are the program's own.
 * `between_sides`, from host to device or back, says which end is the variable. */
static cudaError_t copy_symbol(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                               enum cudaMemcpyKind between_sides) {
    const bool into = between_sides == cudaMemcpyHostToDevice;
    if (!into) symbol_host_reads();
    if (kind != between_sides && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return error_set(cudaErrorInvalidMemcpyDirection);
    if (far_device) return far_device->copy_to_symbol(to, from, bytes);
    return copy_bytes(to, from, bytes, cudaMemcpyDefault,
                      !place_in_image(into ? to : from) ? SYMBOL_NONE
                      : into                            ? SYMBOL_TO
                                                        : SYMBOL_FROM);
}

static bool is_in_symbol(size_t symbol_bytes, size_t bytes, size_t offset) {
    return offset <= symbol_bytes && bytes <= symbol_bytes - offset;
}

cudaError_t cudaMemcpyToSymbol(void *symbol, size_t symbol_bytes, const void *from, size_t bytes,
                               size_t offset, enum cudaMemcpyKind kind) {
    if (!is_in_symbol(symbol_bytes, bytes, offset)) return error_set(cudaErrorInvalidValue);
    return copy_symbol((char *)symbol + offset, from, bytes, kind, cudaMemcpyHostToDevice);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t symbol_bytes, size_t bytes,
                                 size_t offset, enum cudaMemcpyKind kind) {
    if (!is_in_symbol(symbol_bytes, bytes, offset)) return error_set(cudaErrorInvalidValue);
    return copy_symbol(to, (const char *)symbol + offset, bytes, kind, cudaMemcpyDeviceToHost);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    if (symbol_is_asked(to, bytes))
        return copy_symbol(to, from, bytes, kind, cudaMemcpyHostToDevice);
    if (symbol_is_asked(from, bytes))
        return copy_symbol(to, from, bytes, kind, cudaMemcpyDeviceToHost);
    return copy_bytes(to, from, bytes, kind, SYMBOL_NONE);
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind) {
    const struct rows written = {to, to_pitch, width, height},
                      read = {from, from_pitch, width, height};
    if (width > to_pitch || width > from_pitch ||
        (height > 1 && (to_pitch > MAX_PITCH || from_pitch > MAX_PITCH)))
        return error_set(cudaErrorInvalidPitchValue);
    return copy_rows(&written, &read, kind, SYMBOL_NONE);
}

cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height) {
    if (far_device) return far_device->set(pointer, pitch, value, width, height);
    if (error_surface() != cudaSuccess) return error_sticky();
    if (!width || !height) return cudaSuccess;
    const struct rows rows = {pointer, pitch, width, height};
    size_t bytes;
    if (width > pitch || (height > 1 && pitch > MAX_PITCH) || !rows_extent(&rows, &bytes) ||
        allocation_kind_of(pointer, bytes) == ALLOCATION_NONE)
        return error_set(cudaErrorInvalidValue);
    memory_open();
    for (size_t row = 0; row < height; ++row) memset((char *)pointer + row * pitch, value, width);
    memory_close();
    for (size_t row = 0; observer && row < height; ++row)
        observer->copied((char *)pointer + row * pitch, NULL, width, false);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *pointer, int value, size_t bytes) {
    if (!symbol_is_asked(pointer, bytes)) return cudaMemset2D(pointer, bytes, value, bytes, 1);
    void *const values = malloc(bytes + 1);
    if (!values) return error_set(cudaErrorMemoryAllocation);
    memset(values, value, bytes);
    const cudaError_t error = cudaMemcpy(pointer, values, bytes, cudaMemcpyHostToDevice);
    free(values);
    return error;
}
