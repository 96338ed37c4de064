// main.cu: runs the wrapper of kernel.cu once from start to end, and reports whether the result is
// right. For SGEMM: basicSgemm, and whether C = A B.
//
// From top to bottom: options, arrays on the host, device memory, copy, launch and time, copy back,
// verify, report. The same file runs on a GPU (nvcc) and without one (the CPU backend in
// engine/cuda/), and for every lab: which arrays there are, lab/lab.c says. What is not CUDA is in
// support.h.
#include <cuda_runtime.h>

#include "support.h"

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
    snprintf(text, bytes, refused ? "the launch failed" : "cudaGetLastError() after %s",
             lab.wrapper);
    return error;
}
#endif

// Bring array i back into `back`, where all of them may lie, and compare it with what was sent.
static void bring_back(const struct host_data *sent, struct host_data *back, int i,
                       const void *device) {
    const struct host_layout *layout = &sent->layout;
    CUDA(cudaMemcpy(back->memory + layout->offset[i], device, layout->buffer[i],
                    cudaMemcpyDeviceToHost));
    report.damage[i] = data_damage(sent, back, i);
}

int main(int argc, char **argv) {
    struct options options = options_read(argc, argv);
    const int repeat = options.repeat ? options.repeat : default_repeat;
    char failed[2 * MESSAGE_SIZE]; // which call or launch of the wrapper
    report_begin(&report, &options, backend, repeat);
    if (!watchdog_begin(&report)) report_stop(&report, EXIT_MACHINE, "no pipe can be made");

    // Each array lies between two guards, in which stray reads and writes show. Inputs are filled;
    // outputs hold poison, so that an element that is never written shows.
    report_stage(&report, STAGE_SETUP);
    struct host_data sent = data_new(&options.which, true), back = data_room(&sent);
    if (!sent.memory || !back.memory)
        report_stop(&report, EXIT_MACHINE, "out of host memory: choose smaller sizes");
    const struct host_layout *layout = &sent.layout;
    report_stage_end(&report);
    report_case(&report);

    report_stage(&report, STAGE_ALLOCATE);
    cudaDeviceProp properties;
    size_t available, total;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    limits = limits_of(&properties);
    snprintf(report.device, sizeof report.device, "%s", properties.name);
    CUDA(cudaMemGetInfo(&available, &total));
    if (layout->all > available)
        report_stop(&report, EXIT_MACHINE,
                    "these sizes need %.2f GB of device memory, %.2f GB are free: use smaller ones",
                    (double)layout->all / 1e9, (double)available / 1e9);
    char *buffers[LAB_ARRAYS];  // on the device, guards included
    void *elements[LAB_ARRAYS]; // in there: what the wrapper gets
    for (int i = 0; i < layout->arrays; i++) {
        CUDA(cudaMalloc((void **)&buffers[i], layout->buffer[i]));
        elements[i] = buffers[i] + layout->guard[i];
    }
    report_stage_end(&report);
    report_detail(&report, "%s", report.device);

    report_stage(&report, STAGE_TO_DEVICE);
    for (int i = 0; i < layout->arrays; i++)
        CUDA(cudaMemcpy(buffers[i], sent.memory + layout->offset[i], layout->buffer[i],
                        cudaMemcpyHostToDevice));
    report_stage_end(&report);

    report_stage(&report, STAGE_LAUNCH);
    cudaEvent_t start, stop;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    emulator_time_limit(options.timeout);
    for (int run = 0; run < warmups + repeat; run++) {
        // Outputs again, so that nothing is left of an earlier launch.
        for (int i = 0; i < layout->arrays; i++)
            if (lab.arrays[i].role != ROLE_INPUT)
                CUDA(cudaMemcpy(buffers[i], sent.memory + layout->offset[i], layout->buffer[i],
                                cudaMemcpyHostToDevice));
        watchdog_start(options.timeout + watchdog_grace);
        CUDA(cudaEventRecord(start));
        launched = true;
        report_launches_to(run == 0 ? &report : NULL);
        lab_call.call(&options.which.shape, elements); // basicSgemm(m, n, k, A, B, C)
        check(emulator_failed_call(failed, sizeof failed), failed);
        check(cudaEventRecord(stop), "the kernel failed");
        check(cudaDeviceSynchronize(), "the kernel failed");
        watchdog_stop();
        float milliseconds;
        CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
        if (run >= warmups) report_sample(&report, milliseconds * 1e-3);
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    report_stage_end(&report);
    report_launches(&report);

    report_stage(&report, STAGE_FROM_DEVICE);
    for (int i = 0; i < layout->arrays; i++) bring_back(&sent, &back, i, buffers[i]);
    for (int i = 0; i < layout->arrays; i++) CUDA(cudaFree(buffers[i]));
    report_stage_end(&report);

    report_stage(&report, STAGE_VERIFY);
    report_verify(&report, &sent, &back);
    report_stage_end(&report);

    data_free(&sent);
    data_free(&back);
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
        return "An index in the kernel is out of range: is every load and store guarded?";
    case cudaErrorMisalignedAddress:
        return "The index of a float4 load or store must be a multiple of 4.";
    case cudaErrorLaunchOutOfResources:
        return "A block needs too many registers (threads x registers): use smaller blocks.";
    case cudaErrorLaunchTimeout:
        return "Does a loop or a barrier never end, or is the grid far larger than the result?";
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
