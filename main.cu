// main.cu: runs basicSgemm of kernel.cu once from start to end, and reports whether C = A B.
//
// From top to bottom: options, matrices on the host, device memory, copy, launch and time, copy
// back, verify, report. The same file runs on a GPU (nvcc) and without one (the CPU backend in
// engine/cuda/). What is not CUDA is in support.h: options, matrices, the reference, the verdict,
// the printing.
#include <cuda_runtime.h>

#include "support.h"

// In kernel.cu. A, B and C are device pointers, row-major: A is m x k, B is k x n, C is m x n.
// Mind the order: the command line says m k n, both functions say m n k.
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C);

#ifdef CUDA_EMULATOR
static const char *const backend = "cpu";
static const int warmups = 0, default_repeat = 1; // nothing to warm up, and no time worth averaging
#else
static const char *const backend = "cuda";
static const int warmups = 2, default_repeat = 10; // the first launches load code and raise clocks
static void emulator_time_limit(double) {}         // on a GPU only the watchdog limits the time
#endif

static const double watchdog_grace = 2; // seconds: the backend, which can say where, goes first

static struct report report;
static struct launch_limits limits; // of the GPU
static bool launched; // from here on an error is more likely the kernel's than the machine's
static char refusal[2 * MESSAGE_SIZE]; // which launch a GPU cannot make, and why

// Every CUDA call goes through here, and the run goes on only when it succeeded. See below.
static void check(cudaError_t error, const char *what);
#define CUDA(call) check(call, #call " failed")

static struct launch_limits limits_of(const cudaDeviceProp *p) {
    struct launch_limits found = {};
    for (int i = 0; i < 3; i++) {
        found.grid[i] = (unsigned)p->maxGridSize[i];
        found.block[i] = (unsigned)p->maxThreadsDim[i];
    }
    found.threads = (unsigned)p->maxThreadsPerBlock;
    found.shared = p->sharedMemPerBlock;
    return found;
}

#ifndef CUDA_EMULATOR
// Which call left the error, a GPU does not say.
static cudaError_t emulator_failed_call(char *text, size_t bytes) {
    const cudaError_t error = cudaGetLastError();
    const bool invalid = error == cudaErrorInvalidValue || error == cudaErrorInvalidConfiguration;
    const bool refused = invalid && report_refusal(&report, &limits, refusal);
    snprintf(text, bytes, refused ? "the launch failed" : "cudaGetLastError() after basicSgemm");
    return error;
}
#endif

// Bring a matrix back and compare it with what was sent.
static struct damage check_unchanged(const struct matrix *sent, const float *device) {
    struct matrix returned = matrix_new(sent->rows, sent->cols, sent->guard);
    if (!returned.buffer) report_stop(&report, EXIT_MACHINE, "out of host memory");
    CUDA(cudaMemcpy(returned.buffer, device, sent->bytes, cudaMemcpyDeviceToHost));
    struct damage damage = matrix_damage(sent, returned.buffer, true);
    matrix_free(&returned);
    return damage;
}

int main(int argc, char **argv) {
    struct options options = options_read(argc, argv);
    const int m = options.m, n = options.n, k = options.k;
    const int repeat = options.repeat ? options.repeat : default_repeat;
    char failed[2 * MESSAGE_SIZE]; // which call or launch of basicSgemm
    report_begin(&report, &options, backend, repeat);
    watchdog_begin(&report);

    report_stage(&report, STAGE_SETUP);
    const size_t guard = guard_size(m, n, k);
    struct matrix A = matrix_new(m, k, guard);
    struct matrix B = matrix_new(k, n, guard);
    struct matrix C = matrix_new(m, n, guard);
    if (!A.buffer || !B.buffer || !C.buffer)
        report_stop(&report, EXIT_MACHINE, "out of host memory: choose smaller sizes");
    fill_matrix(options.fill, options.seed, MATRIX_A, m, k, A.data);
    fill_matrix(options.fill, options.seed, MATRIX_B, k, n, B.data);
    matrix_poison(&C);
    report_stage_end(&report);
    report_detail(&report, "A %d x %d, B %d x %d, C %d x %d", m, k, k, n, m, n);
    report_detail(&report, "--fill %s --seed %llu", fill_name(options.fill),
                  (unsigned long long)options.seed);
    report_detail(&report, "built from %s", source_name());

    report_stage(&report, STAGE_ALLOCATE);
    cudaDeviceProp properties;
    size_t needed = A.bytes + B.bytes + C.bytes, available, total;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    limits = limits_of(&properties);
    snprintf(report.device, sizeof report.device, "%s", properties.name);
    CUDA(cudaMemGetInfo(&available, &total));
    if (needed > available)
        report_stop(&report, EXIT_MACHINE,
                    "these sizes need %.2f GB of device memory, %.2f GB are free: use smaller ones",
                    (double)needed / 1e9, (double)available / 1e9);
    float *A_d, *B_d, *C_d; // guards included: the elements start at A_d + guard
    CUDA(cudaMalloc((void **)&A_d, A.bytes));
    CUDA(cudaMalloc((void **)&B_d, B.bytes));
    CUDA(cudaMalloc((void **)&C_d, C.bytes));
    report_stage_end(&report);
    report_detail(&report, "%s", report.device);

    report_stage(&report, STAGE_TO_DEVICE);
    CUDA(cudaMemcpy(A_d, A.buffer, A.bytes, cudaMemcpyHostToDevice));
    CUDA(cudaMemcpy(B_d, B.buffer, B.bytes, cudaMemcpyHostToDevice));
    report_stage_end(&report);

    report_stage(&report, STAGE_LAUNCH);
    cudaEvent_t start, stop;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    emulator_time_limit(options.timeout);
    for (int i = 0; i < warmups + repeat; i++) {
        // Poison C each time, so that nothing is left of an earlier launch.
        CUDA(cudaMemcpy(C_d, C.buffer, C.bytes, cudaMemcpyHostToDevice));
        watchdog_start(options.timeout + watchdog_grace);
        CUDA(cudaEventRecord(start));
        launched = true;
        report_launches_to(i == 0 ? &report : NULL);
        basicSgemm(m, n, k, A_d + guard, B_d + guard, C_d + guard);
        check(emulator_failed_call(failed, sizeof failed), failed);
        check(cudaEventRecord(stop), "the kernel failed");
        check(cudaDeviceSynchronize(), "the kernel failed");
        watchdog_stop();
        float milliseconds;
        CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
        if (i >= warmups) report_sample(&report, milliseconds * 1e-3);
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    report_stage_end(&report);
    report_launches(&report);

    report_stage(&report, STAGE_FROM_DEVICE);
    CUDA(cudaMemcpy(C.buffer, C_d, C.bytes, cudaMemcpyDeviceToHost));
    report.damage[MATRIX_C] = matrix_damage(&C, C.buffer, false);
    report.damage[MATRIX_A] = check_unchanged(&A, A_d);
    report.damage[MATRIX_B] = check_unchanged(&B, B_d);
    CUDA(cudaFree(A_d));
    CUDA(cudaFree(B_d));
    CUDA(cudaFree(C_d));
    report_stage_end(&report);

    report_stage(&report, STAGE_VERIFY);
    report_verify(&report, A.data, B.data, C.data);
    report_stage_end(&report);

    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
    return report_end(&report);
}

// Errors that no kernel can cause.
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
    default: return !launched;
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
        return "An index in mysgemm is out of range: is every load and store guarded?";
    case cudaErrorMisalignedAddress:
        return "The index of a float4 load or store must be a multiple of 4.";
    case cudaErrorLaunchOutOfResources:
        return "A block needs too many registers (threads x registers): use smaller blocks.";
    case cudaErrorLaunchTimeout:
        return "Does a loop or a barrier never end, or is the grid far larger than C?";
    default: return is_machine_fault(error) ? "check the GPU with nvidia-smi" : "";
    }
}

static void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    watchdog_stop();
    bool machine = is_machine_fault(error);
    const char *todo = hint(error);
    const bool of_launch = strstr(what, "the launch failed");
    if (of_launch && report_refusal(&report, &limits, refusal)) todo = refusal;
    const char *separator = !*todo ? "" : machine ? "; " : "\n";
    report_stop(&report, machine ? EXIT_MACHINE : EXIT_WRONG, "%s: %s%s%s", what,
                cudaGetErrorString(error), separator, todo);
}
