/* Device memory: pages of this process that only kernels and copies may touch.
 *
 * Each allocation has pages of its own with a wide gap on either side that nobody may touch, so a
 * stray access of a kernel faults instead of reading a neighbour. While host code runs, the
 * allocations are closed as well: a host that follows a device pointer faults, as it would with a
 * GPU. Fresh memory holds a signalling NaN in every word. What is freed stays closed for a while.
 */
#define _GNU_SOURCE
#include "runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    GAP_BYTES = 16 << 20, /* address space only; wider than a few rows of any matrix here */
    QUARANTINED = 256,    /* freed allocations whose addresses stay closed */
    PITCH_BYTES = 512     /* rows of cudaMallocPitch, as on a real GPU */
};

/* How far from an allocation an address is still told by its distance: a row too many or a negative
 * index, times a large matrix. */
#define DESCRIBED_BYTES ((size_t)64 << 30)

enum kind { DEVICE, MANAGED, PINNED };

struct allocation {
    struct allocation *next;
    enum kind kind;
    char *begin;
    size_t bytes;  /* as asked for */
    size_t mapped; /* whole pages */
};

static struct {
    pthread_mutex_t lock;
    struct allocation *first;
    int opened; /* how many have asked for open memory */
    void (*copies)(const struct memory_copy *copy);
    struct {
        char *begin;
        size_t bytes;
    } freed[QUARANTINED];
    unsigned frees;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

/* --- open and closed -------------------------------------------------------------------------- */

static void protect_all(int protection) {
    for (struct allocation *a = memory.first; a; a = a->next)
        if (a->kind == DEVICE) mprotect(a->begin, a->mapped, protection);
}

void memory_open(void) {
    pthread_mutex_lock(&memory.lock);
    if (memory.opened++ == 0) protect_all(PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&memory.lock);
}

void memory_close(void) {
    pthread_mutex_lock(&memory.lock);
    if (--memory.opened == 0) protect_all(PROT_NONE);
    pthread_mutex_unlock(&memory.lock);
}

/* --- finding ---------------------------------------------------------------------------------- */

static size_t distance(const struct allocation *a, const char *address) {
    if (address < a->begin) return (size_t)(a->begin - address);
    if (address >= a->begin + a->bytes) return (size_t)(address - (a->begin + a->bytes)) + 1;
    return 0;
}

static const struct allocation *nearest(const void *address) {
    const struct allocation *best = NULL;
    for (const struct allocation *a = memory.first; a; a = a->next)
        if (!best || distance(a, address) < distance(best, address)) best = a;
    return best;
}

bool memory_is_device(const void *address) {
    const struct allocation *a = nearest(address);
    return a && a->kind == DEVICE && distance(a, address) <= GAP_BYTES;
}

void memory_describe(const void *address, char *text, size_t bytes) {
    const struct allocation *a = nearest(address);
    size_t away = a ? distance(a, address) : 0;
    text[0] = '\0';
    for (unsigned i = 0; i < QUARANTINED; ++i)
        if (memory.freed[i].begin && (const char *)address >= memory.freed[i].begin &&
            (const char *)address < memory.freed[i].begin + memory.freed[i].bytes) {
            snprintf(text, bytes, "in %zu bytes of device memory that were freed",
                     memory.freed[i].bytes);
            return;
        }
    if (!a || away > DESCRIBED_BYTES) return;
    if ((const char *)address < a->begin)
        snprintf(text, bytes, "%zu bytes before the beginning of a device allocation of %zu bytes",
                 away, a->bytes);
    else if (away)
        snprintf(text, bytes, "%zu bytes behind the end of a device allocation of %zu bytes",
                 away - 1, a->bytes);
    else
        snprintf(text, bytes, "byte %zu of a device allocation of %zu bytes",
                 (size_t)((const char *)address - a->begin), a->bytes);
}

/* Whether all `bytes` from `address` on lie in one allocation. */
static const struct allocation *holding(const void *address, size_t bytes) {
    for (const struct allocation *a = memory.first; a; a = a->next)
        if ((const char *)address >= a->begin && (const char *)address <= a->begin + a->bytes &&
            bytes <= (size_t)(a->begin + a->bytes - (const char *)address))
            return a;
    return NULL;
}

/* --- allocating and freeing ------------------------------------------------------------------- */

static void poison(char *begin, size_t bytes) {
    uint32_t *words = (uint32_t *)(void *)begin;
    for (size_t i = 0; i < bytes / sizeof *words; ++i) words[i] = POISON_MALLOC;
}

static size_t whole_pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static bool fits(size_t bytes) {
    size_t free_bytes, total_bytes;
    cudaMemGetInfo(&free_bytes, &total_bytes);
    return bytes <= free_bytes;
}

static cudaError_t allocate(void **pointer, size_t bytes, enum kind kind) {
    if (!pointer) return error_set(cudaErrorInvalidValue);
    if (error_surface() != cudaSuccess) return error_sticky();
    *pointer = NULL;
    if (!bytes) return cudaSuccess;
    if (!fits(bytes)) return error_set(cudaErrorMemoryAllocation);
    struct allocation *a = calloc(1, sizeof *a);
    size_t mapped = whole_pages(bytes);
    char *low = MAP_FAILED;
    if (a)
        low = mmap(NULL, mapped + 2 * (size_t)GAP_BYTES, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (low == MAP_FAILED || mprotect(low + GAP_BYTES, mapped, PROT_READ | PROT_WRITE) != 0) {
        free(a);
        return error_set(cudaErrorMemoryAllocation);
    }
    *a = (struct allocation){
        .kind = kind, .begin = low + GAP_BYTES, .bytes = bytes, .mapped = mapped};
    fault_install();
    pthread_mutex_lock(&memory.lock);
    a->next = memory.first;
    memory.first = a;
    poison(a->begin, mapped);
    if (kind == DEVICE && !memory.opened) mprotect(a->begin, mapped, PROT_NONE);
    pthread_mutex_unlock(&memory.lock);
    *pointer = a->begin;
    if (observer) observer->allocated(a->begin, bytes, kind == DEVICE);
    return cudaSuccess;
}

/* Closes the pages and gives their memory back; the addresses are reused only much later. */
static void quarantine(const struct allocation *a) {
    unsigned slot = memory.frees++ % QUARANTINED;
    if (memory.freed[slot].begin)
        munmap(memory.freed[slot].begin - GAP_BYTES,
               whole_pages(memory.freed[slot].bytes) + 2 * (size_t)GAP_BYTES);
    mmap(a->begin, a->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1, 0);
    memory.freed[slot].begin = a->begin;
    memory.freed[slot].bytes = a->bytes;
}

static cudaError_t release(void *pointer, bool pinned) {
    if (error_surface() != cudaSuccess) return error_sticky();
    if (!pointer) return cudaSuccess;
    cudaError_t error = cudaErrorInvalidValue;
    pthread_mutex_lock(&memory.lock);
    for (struct allocation **link = &memory.first; *link; link = &(*link)->next) {
        struct allocation *a = *link;
        if (a->begin != (char *)pointer || (a->kind == PINNED) != pinned) continue;
        *link = a->next;
        if (observer) observer->freed(a->begin);
        quarantine(a);
        free(a);
        error = cudaSuccess;
        break;
    }
    pthread_mutex_unlock(&memory.lock);
    return error_set(error);
}

cudaError_t cudaMalloc(void **pointer, size_t bytes) { return allocate(pointer, bytes, DEVICE); }

cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned int flags) {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost)
        return error_set(cudaErrorInvalidValue);
    return allocate(pointer, bytes, MANAGED);
}

cudaError_t cudaMallocHost(void **pointer, size_t bytes) {
    return allocate(pointer, bytes, PINNED);
}

cudaError_t cudaHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
    (void)flags; /* all host memory can be reached by kernels here */
    return allocate(pointer, bytes, PINNED);
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
    const struct allocation *a = holding(address, bytes);
    if (a) return a->kind != DEVICE || on_device;
    return !on_device && !memory_is_device(address);
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

void memory_watch_copies(void (*copies)(const struct memory_copy *copy)) { memory.copies = copies; }

static void tell_copy(const char *to, const char *from, size_t bytes) {
    const struct memory_copy copy = {to, from, bytes, memory_is_device(to), memory_is_device(from)};
    if (memory.copies) memory.copies(&copy);
}

static cudaError_t copy_rows(char *to, size_t to_pitch, const char *from, size_t from_pitch,
                             size_t width, size_t height, enum cudaMemcpyKind kind) {
    if (error_surface() != cudaSuccess) return error_sticky();
    if (!width || !height) return cudaSuccess;
    pthread_mutex_lock(&memory.lock);
    cudaError_t error = check_copy(to, from, width, kind);
    if (error == cudaSuccess)
        error =
            check_copy(to + (height - 1) * to_pitch, from + (height - 1) * from_pitch, width, kind);
    pthread_mutex_unlock(&memory.lock);
    if (error != cudaSuccess) return error_set(error);
    tell_copy(to, from, (height - 1) * to_pitch + width);
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
    if (offset > symbol_bytes || bytes > symbol_bytes - offset)
        return error_set(cudaErrorInvalidValue);
    if (kind != between_sides && kind != cudaMemcpyDeviceToDevice && kind != cudaMemcpyDefault)
        return error_set(cudaErrorInvalidMemcpyDirection);
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
    if (error_surface() != cudaSuccess) return error_sticky();
    if (!width || !height) return cudaSuccess;
    if (width > pitch) return error_set(cudaErrorInvalidValue);
    pthread_mutex_lock(&memory.lock);
    bool inside = holding(pointer, (height - 1) * pitch + width) != NULL;
    pthread_mutex_unlock(&memory.lock);
    if (!inside) return error_set(cudaErrorInvalidValue);
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
