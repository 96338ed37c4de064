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
#endif

static struct report *report;

// Every CUDA call goes through here, and the run goes on only when it succeeded.
#define CUDA(call) check(call, #call " failed")
static void check(int error, const char *what) {
    char message[4 * MESSAGE_SIZE];
    if (error == cudaSuccess) return;
    const enum exit_status status = report_error(report, error, what, message);
    report_stop(report, status, "%s", message);
}

// Bring array i back into `back`, where all of them may lie, and compare it with what was sent.
static void bring_back(const struct host_data *sent, struct host_data *back, int i,
                       const void *device) {
    const struct host_layout *layout = &sent->layout;
    CUDA(cudaMemcpy(back->memory + layout->offset[i], device, layout->buffer[i],
                    cudaMemcpyDeviceToHost));
    report->damage[i] = data_damage(sent, back, i);
}

int main(int argc, char **argv) {
    struct options options = options_read(argc, argv);
    const int repeat = options.repeat ? options.repeat : default_repeat;
    char failed[2 * MESSAGE_SIZE]; // which call or launch of the wrapper
    report = report_begin(&options, backend, repeat);

    // Each array lies between two guards, in which stray reads and writes show. Inputs are filled;
    // outputs hold poison, so that an element that is never written shows.
    report_stage(report, STAGE_SETUP);
    struct host_data sent = data_new(&options.which, true), back = data_room(&sent);
    if (!sent.memory || !back.memory)
        report_stop(report, EXIT_MACHINE, "out of host memory: choose smaller sizes");
    const struct host_layout *layout = &sent.layout;
    report_stage_end(report);
    report_case(report);

    report_stage(report, STAGE_ALLOCATE);
    cudaDeviceProp properties;
    size_t available, total;
    CUDA(cudaGetDeviceProperties(&properties, 0));
    snprintf(report->device, sizeof report->device, "%s", properties.name);
    CUDA(cudaMemGetInfo(&available, &total));
    if (layout->all > available)
        report_stop(report, EXIT_MACHINE,
                    "these sizes need %.2f GB of device memory, %.2f GB are free: use smaller ones",
                    (double)layout->all / 1e9, (double)available / 1e9);
    char *buffers[LAB_ARRAYS];  // on the device, guards included
    void *elements[LAB_ARRAYS]; // in there: what the wrapper gets
    for (int i = 0; i < layout->arrays; i++) {
        CUDA(cudaMalloc((void **)&buffers[i], layout->buffer[i]));
        elements[i] = buffers[i] + layout->guard[i];
    }
    report_stage_end(report);
    report_detail(report, "%s", report->device);

    report_stage(report, STAGE_TO_DEVICE);
    for (int i = 0; i < layout->arrays; i++)
        CUDA(cudaMemcpy(buffers[i], sent.memory + layout->offset[i], layout->buffer[i],
                        cudaMemcpyHostToDevice));
    report_stage_end(report);

    report_stage(report, STAGE_LAUNCH);
    cudaEvent_t start, stop;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    for (int run = 0; run < warmups + repeat; run++) {
        // Outputs again, so that nothing is left of an earlier launch.
        for (int i = 0; i < layout->arrays; i++)
            if (lab.arrays[i].role != ROLE_INPUT)
                CUDA(cudaMemcpy(buffers[i], sent.memory + layout->offset[i], layout->buffer[i],
                                cudaMemcpyHostToDevice));
        report_call_begins(report, &properties, run == 0);
        CUDA(cudaEventRecord(start));
        lab_call.call(&options.which.shape, elements); // SGEMM: basicSgemm(m, n, k, A, B, C)
        check(report_call_returned(report, failed), failed);
        check(cudaEventRecord(stop), "the kernel failed");
        check(cudaDeviceSynchronize(), "the kernel failed");
        report_call_ends();
        float milliseconds;
        CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
        if (run >= warmups) report_sample(report, milliseconds * 1e-3);
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    report_stage_end(report);
    report_launches(report);

    report_stage(report, STAGE_FROM_DEVICE);
    for (int i = 0; i < layout->arrays; i++) bring_back(&sent, &back, i, buffers[i]);
    for (int i = 0; i < layout->arrays; i++) CUDA(cudaFree(buffers[i]));
    report_stage_end(report);

    report_stage(report, STAGE_VERIFY);
    report_verify(report, &sent, &back);
    report_stage_end(report);

    data_free(&sent);
    data_free(&back);
    return report_end(report);
}
