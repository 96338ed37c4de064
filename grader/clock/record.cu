// record.cu: calls the wrapper once and records its calls of CUDA's runtime.
//
// Linked with the submission's object and run in the sandbox, like ../worker/worker.cu; the linker
// sends the submission's calls of the runtime here first (--wrap, in ../grader.mk). Each is carried
// out as usual, so that the submission notices nothing, and recorded (recording.h). A call that
// cannot be replayed ends the recording with a reason for the student. As the submission shares
// this process, the recording is not trusted, and nothing here is a secret.
//
//     recorder SIZES recording seconds
//
// SIZES: the lab's parameters, as they are typed. recording: an open descriptor. Exit status: 0
// whatever was recorded; 2 bad usage; 3 the machine is at fault, nothing was recorded, and standard
// error says why. The submission could choose any status, but not without a recording that has
// begun.
#include <cuda.h>
#include <cuda_runtime.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../engine/host/driver/driver.h"
#include "../../engine/host/host.h"
#include "../../engine/report/text/numbers.h"
#include "../worker/on_gpu.h"
extern "C" {
#include "recording.h"
}

static struct recording *record; // the file
static bool recording;

// The first reason counts; nothing is recorded after it.
__attribute__((format(printf, 2, 3))) static void stop(enum state state, const char *format, ...) {
    char reason[REASON_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (recording) recording_stop(record, state, reason);
    recording = false;
}

#define refuse(...) stop(STATE_REFUSED, __VA_ARGS__)

// Zeros; valid until the next call.
static struct data new_data(size_t size) {
    static unsigned char bytes[RECORDING_WRITTEN];
    static struct pointer pointers[RECORDING_WRITTEN / 8];
    memset(bytes, 0, size);
    return {bytes, (uint32_t)size, pointers, 0};
}

static struct step step_of(enum step_kind kind, struct area to = {}, size_t width = 0,
                           size_t height = 0) {
    struct step step = {};
    step.kind = kind;
    step.to = to;
    step.width = width;
    step.height = height;
    return step;
}

static void write_step(const struct step &step, const struct data &data = new_data(0)) {
    if (recording && !recording_add(record, &step, &data))
        refuse("it calls CUDA thousands of times in one call, or with megabytes of parameters");
}

// The number of a kernel, or of a variable. -1: there are too many.
static int symbol_of(const char *name) {
    const int symbol = recording_symbol(record, name);
    if (symbol < 0)
        refuse("it uses more than %d different kernels and variables in one call",
               RECORDING_SYMBOLS);
    return symbol;
}

// For calls that take time on the GPU; others may fail.
static cudaError_t went_well(cudaError_t error, const char *what) {
    if (error != cudaSuccess) stop(STATE_FAULTED, "%s failed: %s", what, cudaGetErrorString(error));
    return error;
}

// ------------------------------------------------------------------ buffers ---------------------

static const size_t behind = 512; // so much larger each is allocated: recording.h says why

static struct {
    uintptr_t begin;
    size_t bytes;
    bool live;
} buffers[RECORDING_BUFFERS];
static int buffer_count;

extern "C" cudaError_t __real_cudaMalloc(void **pointer, size_t bytes);

// The live buffer that holds this address, or that it is the end of; -1: none.
static int find_buffer(uint64_t address) {
    for (int i = 0; i < buffer_count; i++)
        if (buffers[i].live && address >= buffers[i].begin &&
            address <= buffers[i].begin + buffers[i].bytes)
            return i;
    return -1;
}

static struct area area_at(const void *pointer, size_t pitch) {
    const int buffer = find_buffer((uintptr_t)pointer);
    const uint64_t offset = buffer < 0 ? 0 : (uintptr_t)pointer - buffers[buffer].begin;
    return {buffer, offset, pitch};
}

// The replay allocates it beforehand.
static void record_allocation(void *begin, size_t bytes) {
    static uint64_t scratch;
    scratch += bytes;
    if (buffer_count == RECORDING_BUFFERS)
        return refuse("it allocates more than %d times in one call",
                      RECORDING_BUFFERS - lab_arrays(&lab));
    if (scratch > RECORDING_SCRATCH) return refuse("it allocates more than 8 GiB in one call");
    record->bytes[record->buffer_count++] = bytes;
    buffers[buffer_count++] = {(uintptr_t)begin, bytes, true};
}

extern "C" cudaError_t __wrap_cudaMalloc(void **pointer, size_t bytes) {
    if (!recording || bytes == 0) return __real_cudaMalloc(pointer, bytes);
    const cudaError_t error = __real_cudaMalloc(pointer, bytes + behind);
    if (error == cudaSuccess) record_allocation(*pointer, bytes);
    return error;
}

// Rows as far apart as CUDA's own alignment has them.
extern "C" cudaError_t __wrap_cudaMallocPitch(void **pointer, size_t *pitch, size_t width,
                                              size_t height) {
    *pitch = round_up(width, behind);
    return __wrap_cudaMalloc(pointer, *pitch * height);
}

// The replay frees nothing: what is freed here is only no longer to be used.
static void record_free(void *pointer) {
    const int buffer = find_buffer((uintptr_t)pointer);
    if (!recording || !pointer) return;
    if (buffer < lab_arrays(&lab) || buffers[buffer].begin != (uintptr_t)pointer)
        return refuse("it frees memory that it has not allocated in this call");
    buffers[buffer].live = false;
}

WRAP(cudaFree, (void *pointer), (pointer), record_free(pointer), )

// As cudaMalloc and cudaFree, which is what the replay knows.
extern "C" cudaError_t __wrap_cudaMallocAsync(void **pointer, size_t bytes, cudaStream_t) {
    return __wrap_cudaMalloc(pointer, bytes);
}
extern "C" cudaError_t __wrap_cudaFreeAsync(void *pointer, cudaStream_t) {
    record_free(pointer);
    return __real_cudaFree(pointer);
}

// ------------------------------------------------------------------ which words are addresses ---

// By what recording.h says. A GPU address is a number like 0x7f1a2b000000.
static const uint64_t near_bytes = 16 << 20, lowest_address = UINT64_C(1) << 32;

static bool looks_like_address(uint64_t word) {
    cudaPointerAttributes about;
    if (word < lowest_address) return false;
    for (int i = 0; i < buffer_count; i++)
        if (word + near_bytes >= buffers[i].begin &&
            word <= buffers[i].begin + buffers[i].bytes + near_bytes)
            return true;
    if (cudaPointerGetAttributes(&about, (const void *)(uintptr_t)word) == cudaSuccess)
        return about.type != cudaMemoryTypeUnregistered;
    cudaGetLastError(); // the submission must not see this error
    return false;
}

// In part of the copied data: its addresses become pointers of the recording.
static void find_pointers(struct data *data, size_t begin, size_t end) {
    for (uint32_t at = (uint32_t)round_up(begin, 8); at + 8 <= end; at += 8) {
        uint64_t word;
        memcpy(&word, data->bytes + at, sizeof word);
        const int buffer = find_buffer(word);
        if (buffer >= 0) {
            data->pointers[data->pointer_count++] = {at, buffer, word - buffers[buffer].begin};
            memset(data->bytes + at, 0, sizeof word);
        } else if (looks_like_address(word)) {
            refuse("an address is passed that is neither in an array nor in what it has allocated "
                   "in this call");
        }
    }
}

// From the host, into a buffer or a variable: recorded up to a limit.
static void write_data(const struct step &step, const void *from, size_t size) {
    static size_t written;
    if (!recording || size == 0) return;
    written += size;
    if (size > RECORDING_WRITTEN || written > RECORDING_WRITTEN)
        return refuse("it copies more than 64 KB from the host to the device in one call");
    struct data data = new_data(size);
    memcpy(data.bytes, from, size);
    find_pointers(&data, 0, size);
    write_step(step, data);
}

// ------------------------------------------------------------------ launches --------------------

typedef CUresult parameter_info(void *kernel, size_t index, size_t *offset, size_t *size);
static parameter_info *kernel_parameter; // cuKernelGetParamInfo

#if CUDART_VERSION >= 12040
// From the runtime, so that the driver's library needs no linking.
static cudaError_t find_driver_functions() {
    void *found = NULL;
    cudaDriverEntryPointQueryResult status;
#if CUDART_VERSION >= 12050
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuKernelGetParamInfo", &found,
                                                               12040, cudaEnableDefault, &status);
#else
    const cudaError_t error =
        cudaGetDriverEntryPoint("cuKernelGetParamInfo", &found, cudaEnableDefault, &status);
#endif
    kernel_parameter = (parameter_info *)found;
    return error == cudaSuccess && !found ? cudaErrorSymbolNotFound : error;
}

// Mangled; NULL when it is not a kernel of this program.
static const char *name_of(void *kernel) {
    const char *name = NULL;
    if (cudaFuncGetName(&name, kernel) != cudaSuccess) cudaGetLastError();
    return name;
}

// The stub's handle of a kernel, or the address of the stub itself.
static void *kernel_of(const void *function) {
    cudaKernel_t kernel = NULL;
    if (cudaGetKernel(&kernel, function) != cudaSuccess) cudaGetLastError();
    return kernel ? (void *)kernel : (void *)function;
}
#else
// Before 12.4 a kernel's parameters cannot be queried: this links, but records nothing.
static cudaError_t find_driver_functions() { return cudaErrorNotSupported; }
static const char *name_of(void *) { return NULL; }
static void *kernel_of(const void *function) { return (void *)function; }
#endif

// As the kernel finds them in its memory: one after the other, with the gaps of alignment.
static struct data parameters_of(void *kernel, void **arguments) {
    size_t offset, size, end = 0;
    struct data data = new_data(RECORDING_PARAMETERS);
    for (size_t i = 0; kernel_parameter(kernel, i, &offset, &size) == CUDA_SUCCESS; i++) {
        memcpy(data.bytes + offset, arguments[i], size);
        find_pointers(&data, offset, offset + size);
        end = offset + size > end ? offset + size : end;
    }
    data.size = (uint32_t)end;
    return data;
}

static bool can_be_ordered(cudaStream_t stream, const char *what) {
    if (stream == NULL || stream == cudaStreamLegacy || stream == cudaStreamPerThread) return true;
    refuse("it %s on a stream of its own; only work on the default stream can be timed", what);
    return false;
}

// kernel: the driver's handle, which the runtime's is, too.
static void record_launch(void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                          cudaStream_t stream) {
    static int launches;
    if (!recording || !can_be_ordered(stream, "launches")) return;
    const char *name = name_of(kernel);
    if (!name) return refuse("it launches something that is not one of its kernels");
    if (launches++ == RECORDING_LAUNCHES)
        refuse("it launches more than %d kernels in one call", RECORDING_LAUNCHES);
    const int symbol = symbol_of(name);
    if (symbol < 0) return;
    uint32_t *most_shared = &record->symbols[symbol].shared;
    if (shared > *most_shared) *most_shared = (uint32_t)shared;
    struct step step = step_of(STEP_LAUNCH);
    step.symbol = (uint32_t)symbol;
    step.grid[0] = grid.x, step.grid[1] = grid.y, step.grid[2] = grid.z;
    step.block[0] = block.x, step.block[1] = block.y, step.block[2] = block.z;
    step.shared = (uint32_t)shared;
    write_step(step, parameters_of(kernel, arguments));
}

static cudaError_t launched(cudaError_t error) { return went_well(error, "a launch"); }

// `handle`: the driver's, made of the `kernel` that is passed.
#define WRAP_LAUNCH(name, type, handle)                                                            \
    WRAP(name,                                                                                     \
         (type kernel, dim3 grid, dim3 block, void **arguments, size_t shared,                     \
          cudaStream_t stream),                                                                    \
         (kernel, grid, block, arguments, shared, stream),                                         \
         if (recording) record_launch(handle, grid, block, arguments, shared, stream), launched)

WRAP_LAUNCH(cudaLaunchKernel, const void *, kernel_of(kernel))
// Since CUDA 13 the stubs call these.
#if CUDART_VERSION >= 13000
WRAP_LAUNCH(__cudaLaunchKernel, cudaKernel_t, (void *)kernel)
WRAP_LAUNCH(__cudaLaunchKernel_ptsz, cudaKernel_t, (void *)kernel)
#endif

#if CUDART_VERSION >= 11080
static void record_configured(const cudaLaunchConfig_t *c, const void *function, void **arguments) {
    if (recording && c->numAttrs > 0)
        refuse("it launches with attributes (clusters, cooperative launches and the like), which "
               "cannot be timed");
    if (recording)
        record_launch(kernel_of(function), c->gridDim, c->blockDim, arguments, c->dynamicSmemBytes,
                      c->stream);
}

WRAP(cudaLaunchKernelExC,
     (const cudaLaunchConfig_t *config, const void *function, void **arguments),
     (config, function, arguments), record_configured(config, function, arguments), launched)
#endif

// The replay itself finds out how much dynamic shared memory to ask for.
static void record_attribute(const void *function, cudaFuncAttribute attribute, int value) {
    const char *name = recording ? name_of(kernel_of(function)) : NULL;
    const bool is_carveout = attribute == cudaFuncAttributePreferredSharedMemoryCarveout;
    if (!name || !is_carveout || value < 0 || value > 100) return;
    const int symbol = symbol_of(name);
    if (symbol >= 0) record->symbols[symbol].carveout = value;
}

WRAP(cudaFuncSetAttribute, (const void *function, cudaFuncAttribute attribute, int value),
     (function, attribute, value), record_attribute(function, attribute, value), )

// ------------------------------------------------------------------ memset and copies -----------

static void record_set(void *to, size_t pitch, int value, size_t width, size_t height,
                       cudaStream_t stream) {
    if (!can_be_ordered(stream, "sets memory") || !recording || width == 0 || height == 0) return;
    struct step step = step_of(STEP_SET, area_at(to, pitch), width, height);
    step.value = (uint32_t)value & 0xff;
    if (step.to.buffer < 0) refuse("it sets memory that it has not allocated in this call");
    write_step(step);
}

// Rows of width bytes, from host memory, into a buffer: each a step, as there is no pitch in it.
static void record_write(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height) {
    for (size_t row = 0; recording && row < height; row++)
        write_data(step_of(STEP_WRITE, area_at((char *)to + row * to_pitch, width)),
                   (const char *)from + row * from_pitch, width);
}

static bool is_on_device(const void *pointer) {
    return find_buffer((uintptr_t)pointer) >= 0 || points_to_device(pointer);
}

static void record_copy(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                        size_t width, size_t height, cudaStream_t stream) {
    if (!can_be_ordered(stream, "copies") || !recording || width == 0 || height == 0) return;
    struct step step = step_of(STEP_COPY, area_at(to, to_pitch), width, height);
    step.from = area_at(from, from_pitch);
    if (!is_on_device(to) && is_on_device(from))
        refuse("it copies device memory to the host, and a replay has no host");
    else if (!is_on_device(to))
        return; // from host to host
    else if (step.to.buffer < 0)
        refuse("it copies into memory that it has not allocated in this call");
    else if (!is_on_device(from))
        record_write(to, to_pitch, from, from_pitch, width, height);
    else if (step.from.buffer < 0)
        refuse("it copies from memory that it has not allocated in this call");
    else
        write_step(step);
}

WRAP_BOTH(cudaMemset, LIST(void *to, int value, size_t bytes), LIST(to, value, bytes),
          record_set(to, bytes, value, bytes, 1, stream))
WRAP_BOTH(cudaMemset2D, LIST(void *to, size_t pitch, int value, size_t width, size_t height),
          LIST(to, pitch, value, width, height),
          record_set(to, pitch, value, width, height, stream))
WRAP_BOTH(cudaMemcpy, LIST(void *to, const void *from, size_t bytes, cudaMemcpyKind kind),
          LIST(to, from, bytes, kind), record_copy(to, bytes, from, bytes, bytes, 1, stream))
WRAP_BOTH(cudaMemcpy2D,
          LIST(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
               size_t height, cudaMemcpyKind kind),
          LIST(to, to_pitch, from, from_pitch, width, height, kind),
          record_copy(to, to_pitch, from, from_pitch, width, height, stream))

// ------------------------------------------------------------------ variables -------------------

// The host's counterparts of __device__ and __constant__ variables are registered with their names
// before main().
enum { MOST_VARIABLES = 1024 };
static struct {
    const void *host;
    const char *name;
} variables[MOST_VARIABLES];
static int variable_count;

extern "C" void __real___cudaRegisterVar(void **binary, char *host, char *address, const char *name,
                                         int external, size_t size, int constant, int global);
extern "C" void __wrap___cudaRegisterVar(void **binary, char *host, char *address, const char *name,
                                         int external, size_t size, int constant, int global) {
    if (variable_count < MOST_VARIABLES) variables[variable_count++] = {host, name};
    __real___cudaRegisterVar(binary, host, address, name, external, size, constant, global);
}

static void record_variable(const void *symbol, const void *from, size_t bytes, size_t offset) {
    const char *name = NULL;
    if (!recording) return;
    for (int i = 0; i < variable_count; i++)
        if (variables[i].host == symbol) name = variables[i].name;
    if (is_on_device(from))
        return refuse("it copies from device memory into a __device__ variable; only a copy from "
                      "the host can be replayed");
    if (!name) return refuse("it copies into a symbol that is not one of its __device__ variables");
    const int variable = symbol_of(name);
    if (variable < 0) return;
    struct step step = step_of(STEP_VARIABLE, {0, offset, 0});
    step.symbol = (uint32_t)variable;
    write_data(step, from, bytes);
}

WRAP(cudaMemcpyToSymbol,
     (const void *symbol, const void *from, size_t bytes, size_t offset, cudaMemcpyKind kind),
     (symbol, from, bytes, offset, kind), record_variable(symbol, from, bytes, offset), )

// Of what a submission may call at all (../gate/symbols.toml).
WRAP(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),
     (stream, event, flags),
     refuse("a stream waits for an event; only work on the default stream can be timed"), )
WRAP(cudaDeviceReset, (), (), refuse("it resets the device"), )

// ------------------------------------------------------------------ the call --------------------

static void time_is_up(int) {
    if (recording)
        recording_stop(record, STATE_TIME_LIMIT, "it was still running at its time limit");
    _exit(EXIT_PASSED);
}

// Before the wrapper is called, and with nothing in the recording.
static void fail(const char *what, const char *why) {
    fprintf(stderr, "recorder: %s: %s\n", what, why);
    _exit(EXIT_MACHINE);
}

static void must(cudaError_t error, const char *what) {
    if (error != cudaSuccess) fail(what, cudaGetErrorString(error));
}

// Zeros, and a buffer of the recording.
static int allocate_array(void **array, size_t bytes) {
    const cudaError_t error = __real_cudaMalloc(array, bytes + behind);
    if (error == cudaSuccess) buffers[buffer_count++] = {(uintptr_t)*array, bytes, true};
    return error == cudaSuccess ? cudaMemset(*array, 0, bytes) : error;
}

int main(int argc, char **argv) {
    struct host_arrays arrays = {};
    const int sizes = lab_shape_read(&lab, argc - 1, argv + 1, &arrays.shape);
    if (!sizes || argc != sizes + 3) {
        fprintf(stderr, "usage: recorder SIZES recording seconds\n");
        return EXIT_USAGE;
    }
    arrays.layout = host_layout_of(&lab, &arrays.shape, false);
    arrays.placing = HOST_BARE;
    const char *problem = native_code_problem();
    if (problem) fail("machine code", problem);
    must(find_driver_functions(), "the driver's cuKernelGetParamInfo, of 12.4 or newer");
    if ((problem = host_allocate(&arrays, allocate_array))) fail("memory for the arrays", problem);
    must(cudaDeviceSynchronize(), "the GPU");

    record = recording_begin(atoi(argv[sizes + 1]), &arrays.shape);
    if (!record) fail("the recording", strerror(errno));
    signal(SIGALRM, time_is_up);
    alarm((unsigned)atoi(argv[sizes + 2]));
    recording = true;
    host_call(&arrays);
    went_well(cudaGetLastError(), "a launch");
    went_well(cudaDeviceSynchronize(), "a kernel");
    alarm(0);
    if (recording) record->end = RECORDING_ENDED;
    _exit(EXIT_PASSED); // without its destructors
}
