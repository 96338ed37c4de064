// launches.cu: around a call of the wrapper, on both backends: its time, what it launches, the
// errors that it leaves. The only file here that is CUDA.
#include <cuda_runtime.h>
#include <string.h>

#include "../../cuda/program/program.h"
#include "driver.h"

static struct report *report; // null: launches are not reported

static struct launch_limits limits; // of the GPU

static void note_refusal(const struct finding_launch *launch) {
    char why[MESSAGE_SIZE];
    const char *hint = report->refused[0] ? NULL : launch_refusal(launch, &limits, why);
    if (hint)
        snprintf(report->refused, sizeof report->refused, "%s<<<...>>>: %s\nhint: %s",
                 launch->kernel, why, hint);
}

// Takes it down, with memset() and memcpy(): equal ones in a row are compared byte by byte.
static void launched(const void *kernel, dim3 grid, dim3 block, size_t shared) {
    if (!report) return;
    const struct lab_array *array = &lab.arrays[lab_first_output(&lab)];
    const char *symbol = NULL;
    struct finding_launch launch;
    cudaFuncAttributes attributes = {};
    if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) cudaGetLastError();
    memset(&launch, 0, sizeof launch);
#if defined CUDA_EMULATOR || CUDART_VERSION >= 12040
    if (cudaFuncGetName(&symbol, kernel) != cudaSuccess) cudaGetLastError();
#endif
    kernel_name(symbol ? symbol : "kernel", launch.kernel, sizeof launch.kernel);
    launch.grid[0] = grid.x, launch.grid[1] = grid.y, launch.grid[2] = grid.z;
    launch.block[0] = block.x, launch.block[1] = block.y, launch.block[2] = block.z;
    launch.static_bytes = attributes.sharedSizeBytes;
    launch.shared_bytes = shared;
    // The run's first output, beside which a launch is shown.
    snprintf(launch.output, sizeof launch.output, "%s", array->name);
    launch.dimensions = array->dimensions;
    lab_extents(array, &report->options.which.shape, launch.extent);
    const int count = report->launch_count;
    if (count && !report->launches_left_out &&
        memcmp(&report->launches[count - 1], &launch, sizeof launch) == 0) {
        report->launch_repeats[count - 1]++;
    } else if (count < REPORTED_LAUNCHES) {
        memcpy(&report->launches[count], &launch, sizeof launch);
        report->launch_repeats[report->launch_count++] = 1;
    } else {
        report->launches_left_out++;
    }
    note_refusal(&launch);
}

// --- a call ---

static const double grace = 2; // seconds: the backend, which can say where, goes first
static bool called; // from here on an error is more likely the kernel's than the machine's

void report_call_begins(struct report *to, const struct cudaDeviceProp *p, bool first) {
    for (int i = 0; i < 3; i++) {
        limits.grid[i] = (unsigned)p->maxGridSize[i];
        limits.block[i] = (unsigned)p->maxThreadsDim[i];
    }
    limits.threads = (unsigned)p->maxThreadsPerBlock;
    limits.shared = p->sharedMemPerBlock;
    report = first ? to : NULL;
#ifdef CUDA_EMULATOR
    emulator_time_limit(to->options.timeout);
    emulator_on_launch(first ? launched : NULL);
    emulator_on_message(watchdog_end_line);
#endif
    watchdog_start(to->options.timeout + grace);
    called = true;
}

int report_call_returned(const struct report *of, char what[2 * MESSAGE_SIZE]) {
#ifdef CUDA_EMULATOR
    (void)of;
    return emulator_failed_call(what, 2 * MESSAGE_SIZE);
#else // which call left the error, a GPU does not say
    const cudaError_t error = cudaGetLastError();
    const bool invalid = error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration;
    const bool refused = invalid && of->refused[0];
    snprintf(what, 2 * MESSAGE_SIZE, refused ? "the launch failed" : "cudaGetLastError() after %s",
             lab.wrapper);
    return error;
#endif
}

void report_call_ends(void) { watchdog_stop(); }

// --- errors ---

// That no kernel can cause.
static bool is_machine_fault(cudaError_t error) {
    switch (error) {
    case cudaErrorInitializationError:
    case cudaErrorInsufficientDriver:
    case cudaErrorDevicesUnavailable:
    case cudaErrorNoDevice:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorECCUncorrectable:
    case cudaErrorSystemNotReady:
    case cudaErrorSystemDriverMismatch: return true;
    default: return !called;
    }
}

// What to do about an error that students meet.
static const char *hint(cudaError_t error) {
    switch (error) {
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver: return "without a usable GPU, build with: make BACKEND=cpu";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion: return "build for this GPU with: make";
    case cudaErrorIllegalAddress:
        return "An index in the kernel is out of range: is every load and store guarded?";
    case cudaErrorMisalignedAddress:
        return "Is every index in range, and that of a float4 load or store a multiple of 4?";
    case cudaErrorLaunchOutOfResources:
        return "A block needs too many registers (threads x registers): use smaller blocks.";
    case cudaErrorLaunchTimeout:
        return "Does a loop or a barrier never end, or is the grid far larger than the result?";
    default: return is_machine_fault(error) ? "check the GPU with nvidia-smi" : "";
    }
}

enum exit_status report_error(const struct report *of, int error, const char *what,
                              char message[4 * MESSAGE_SIZE]) {
    const cudaError_t code = (cudaError_t)error;
    watchdog_stop();
    const bool machine = is_machine_fault(code);
    const char *todo = hint(code);
    if (strstr(what, "the launch failed") && of->refused[0]) todo = of->refused;
    const char *separator = !*todo ? "" : machine ? "; " : "\n";
    snprintf(message, 4 * MESSAGE_SIZE, "%s: %s%s%s", what, cudaGetErrorString(code), separator,
             todo);
    return machine ? EXIT_MACHINE : EXIT_WRONG;
}

// --- launches on a GPU ---

#ifndef CUDA_EMULATOR
// The linker sends the launches of kernel.cu here first (--wrap, in ../Makefile).
extern "C" {
cudaError_t __real_cudaLaunchKernel(const void *, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __wrap_cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared, cudaStream_t stream) {
    launched(kernel, grid, block, shared);
    return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

#if CUDART_VERSION >= 11080 // what cudaLaunchKernelEx() calls
cudaError_t __real_cudaLaunchKernelExC(const cudaLaunchConfig_t *, const void *, void **);
cudaError_t __wrap_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **arguments) {
    launched(kernel, config->gridDim, config->blockDim, config->dynamicSmemBytes);
    return __real_cudaLaunchKernelExC(config, kernel, arguments);
}
#endif

#if CUDART_VERSION >= 13000 // since when a launch calls this
cudaError_t __real___cudaLaunchKernel(cudaKernel_t, dim3, dim3, void **, size_t, cudaStream_t);
cudaError_t __wrap___cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                      size_t shared, cudaStream_t stream) {
    launched((const void *)kernel, grid, block, shared);
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
#endif
}
#endif
