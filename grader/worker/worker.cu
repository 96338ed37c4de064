// worker.cu: runs the submission once, on matrices that came from outside, and hands back what the
// device's memory holds then.
//
// Linked with the submission's kernel.cu and run in the sandbox; nothing that this process says is
// believed unless it has to be (report.h). It knows no seed and no expected result, prints nothing,
// and by the time the submission is called it holds A and B nowhere but in device memory.
//
//     worker M K N in out report block_seconds seconds work writers [count]
//
// in, out, report: open descriptors of files of the layout in report.h. block_seconds, seconds,
// work: what each launch may take (watch.h). writers: an open descriptor, too, of what the plain
// build notes and the checked one reads. count: loads are counted (checked build).
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "watch.h"

// In kernel.cu.
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C);

static struct worker_report report;
static int report_file = -1;
static struct worker_report *report_memory;

void worker_report_to(struct worker_report *memory) { report_memory = memory; }

void worker_write_report(enum worker_state state) {
    report.state = state;
    if (report_memory)
        *report_memory = report;
    else if (pwrite(report_file, &report, sizeof report, 0) != (ssize_t)sizeof report)
        _exit(EXIT_MACHINE);
}

struct worker_report *worker_report(void) {
    return &report;
}

[[noreturn]] static void machine_fault(const char *what) {
    snprintf(report.detail, sizeof report.detail, "%s", what);
    worker_write_report(WORKER_MACHINE);
    _exit(EXIT_MACHINE);
}

static void must(cudaError_t error, const char *what) {
    char text[MESSAGE_SIZE];
    if (error == cudaSuccess) return;
    snprintf(text, sizeof text, "%s: %s", what, cudaGetErrorString(error));
    machine_fault(text);
}

// An error of the submission's.
[[noreturn]] static void stopped(cudaError_t error, const char *what) {
    if (!report.detail[0])
        snprintf(report.detail, sizeof report.detail, "%s: %s", what, cudaGetErrorString(error));
    worker_write_report(error == cudaErrorLaunchTimeout ? watch_state_at_limit() : WORKER_STOPPED);
    _exit(EXIT_WRONG);
}

// ------------------------------------------------------------------ matrices --------------------

// What of a matrix's buffer goes to the device: all of it, or, where every access is watched, the
// elements alone, whose bounds are then the allocation's.
struct part {
    size_t begin, bytes; // in the buffer
};

static struct part part_of(const struct passage *p) {
    if (worker_is_checked) return {p->guard * sizeof(float), elements_bytes(p)};
    return {0, p->bytes};
}

static float *to_device(const struct passage *p, const char *file) {
    const struct part part = part_of(p);
    float *device;
    must(cudaMalloc((void **)&device, part.bytes), "cudaMalloc");
    must(cudaMemcpy(device, file + p->offset + part.begin, part.bytes, cudaMemcpyHostToDevice),
         "cudaMemcpy");
    return device;
}

// Where the elements are, in what was allocated.
static float *elements_of(const struct passage *p, float *device) {
    return worker_is_checked ? device : device + p->guard;
}

static void from_device(const struct passage *p, const float *device, int out) {
    const struct part part = part_of(p);
    char *buffer = (char *)malloc(part.bytes);
    if (!buffer) machine_fault("no memory for the result");
    must(cudaMemcpy(buffer, device, part.bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t done = 0; done < part.bytes;) {
        ssize_t count =
            pwrite(out, buffer + done, part.bytes - done, (off_t)(p->offset + part.begin + done));
        if (count <= 0) machine_fault("the result cannot be written");
        done += (size_t)count;
    }
    free(buffer);
}

// The plain build writes, and the checked one reads.
static struct writers *writers_in(int file) {
    const int rights = worker_is_checked ? PROT_READ : PROT_READ | PROT_WRITE;
    const int sharing = worker_is_checked ? MAP_PRIVATE : MAP_SHARED;
    void *memory = mmap(NULL, WORKER_WRITERS_BYTES, rights, sharing, file, 0);
    if (memory == MAP_FAILED) machine_fault("the file of blocks that write cannot be mapped");
    close(file);
    return (struct writers *)memory;
}

// ------------------------------------------------------------------ the run ---------------------

static int number(const char *text) { return (int)strtol(text, NULL, 10); }

int main(int argc, char **argv) {
    if (argc < 11) {
        fprintf(stderr, "usage: worker M K N in out report block_seconds seconds work writers "
                        "[count]\n");
        return EXIT_USAGE;
    }
    const int m = number(argv[1]), k = number(argv[2]), n = number(argv[3]);
    const int in = number(argv[4]), out = number(argv[5]);
    report_file = number(argv[6]);
    report.magic = WORKER_MAGIC;
    worker_write_report(WORKER_STARTED);
    watch_starts();

    const struct layout layout = layout_of(m, n, k);
    float *device[MATRIX_COUNT], *elements[MATRIX_COUNT];
    void *file = mmap(NULL, layout.bytes, PROT_READ, MAP_PRIVATE, in, 0);
    if (file == MAP_FAILED) machine_fault("the matrices cannot be mapped");
    for (int i = 0; i < MATRIX_COUNT; i++) {
        const struct passage *p = &layout.of[i];
        device[i] = to_device(p, (const char *)file);
        elements[i] = elements_of(p, device[i]);
    }
    munmap(file, layout.bytes);
    close(in);

    const struct watched watched = {
        m,
        n,
        k,
        {elements[MATRIX_A], elements[MATRIX_B], elements[MATRIX_C]},
        basicSgemm,
        {strtod(argv[7], NULL), strtod(argv[8], NULL), strtoull(argv[9], NULL, 10)},
        argc > 11,
        writers_in(number(argv[10])),
        machine_fault};
    watch_begins(&watched);
    worker_write_report(WORKER_IN_WRAPPER);
    watch_calls(&watched);
    char failed[MESSAGE_SIZE];
    cudaError_t left = watch_left_error(failed);
    cudaError_t ended = cudaDeviceSynchronize();
    watch_ended();
    if (ended != cudaSuccess) stopped(ended, "the kernel failed");
    if (left != cudaSuccess) stopped(left, failed);

    for (int i = 0; i < MATRIX_COUNT; i++) from_device(&layout.of[i], device[i], out);
    worker_write_report(WORKER_RETURNED);
    _exit(EXIT_PASSED); // nothing of the submission's runs any more
}
