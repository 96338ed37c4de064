// worker.cu: runs the submission once, on arrays that came from outside, and hands back what the
// device's memory holds then.
//
// Linked with the submission's kernel.cu and run in the sandbox; nothing that this process says is
// believed unless it has to be (report.h). It knows no seed and no expected result, prints nothing,
// and by the time the submission is called it holds the inputs nowhere but in device memory.
//
//     worker SIZES in out report block_seconds seconds work writers [count]
//
// SIZES: the lab's parameters, as they are typed. in, out, report: open descriptors of the files of
// report.h. block_seconds, seconds,
// work: what each launch may take (watch.h). writers: an open descriptor, too, of what the plain
// build notes and the checked one reads. count: loads are counted (checked build).
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "watch.h"

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

// An error of the submission's.
[[noreturn]] static void stopped(cudaError_t error, const char *what) {
    if (!report.detail[0])
        snprintf(report.detail, sizeof report.detail, "%s: %s", what, cudaGetErrorString(error));
    worker_write_report(error == cudaErrorLaunchTimeout ? watch_state_at_limit() : WORKER_STOPPED);
    _exit(EXIT_WRONG);
}

// ------------------------------------------------------------------ arrays ----------------------

static void stop_at(const char *problem) {
    if (problem) machine_fault(problem);
}

// A file of which this process may have all.
static void *mapped(int file, size_t bytes, int rights, int sharing, const char *problem) {
    void *memory = mmap(NULL, bytes, rights, sharing, file, 0);
    if (memory == MAP_FAILED) machine_fault(problem);
    return memory;
}

// The plain build writes, and the checked one reads.
static struct writers *writers_in(int file) {
    const int rights = worker_is_checked ? PROT_READ : PROT_READ | PROT_WRITE;
    const int sharing = worker_is_checked ? MAP_PRIVATE : MAP_SHARED;
    void *memory = mapped(file, WORKER_WRITERS_BYTES, rights, sharing,
                          "the file of blocks that write cannot be mapped");
    close(file);
    return (struct writers *)memory;
}

// ------------------------------------------------------------------ the run ---------------------

static int number(const char *text) { return (int)strtol(text, NULL, 10); }

int main(int argc, char **argv) {
    struct watched watched = {};
    const int sizes = lab_shape_read(&lab, argc - 1, argv + 1, &watched.arrays.shape);
    if (!sizes || argc < sizes + 8) {
        fprintf(stderr, "usage: worker SIZES in out report block_seconds seconds work writers "
                        "[count]\n");
        return EXIT_USAGE;
    }
    char **words = argv + 1 + sizes;
    const int in = number(words[0]), out = number(words[1]);
    report_file = number(words[2]);
    report.magic = WORKER_MAGIC;
    worker_write_report(WORKER_STARTED);
    watch_starts();

    watched.arrays.layout = host_layout_of(&lab, &watched.arrays.shape, true);
    // Where every access is watched, the bounds of an array are its allocation's.
    watched.arrays.placing = worker_is_checked ? HOST_BARE : HOST_GUARDED;
    const size_t bytes = watched.arrays.layout.all;
    void *file = mapped(in, bytes, PROT_READ, MAP_PRIVATE, "the arrays cannot be mapped");
    stop_at(host_allocate(&watched.arrays, NULL));
    stop_at(host_send(&watched.arrays, file));
    munmap(file, bytes);
    close(in);

    watched.limits = {strtod(words[3], NULL), strtod(words[4], NULL), strtoull(words[5], NULL, 10)};
    watched.count = words[7] != NULL;
    watched.writers = writers_in(number(words[6]));
    watched.machine_fault = machine_fault;
    watch_begins(&watched);
    worker_write_report(WORKER_IN_WRAPPER);
    watch_calls(&watched);
    char failed[MESSAGE_SIZE];
    cudaError_t left = watch_left_error(failed);
    cudaError_t ended = cudaDeviceSynchronize();
    watch_ended();
    if (ended != cudaSuccess) stopped(ended, "the kernel failed");
    if (left != cudaSuccess) stopped(left, failed);

    // What was on the device, and no more.
    stop_at(host_bring_back(&watched.arrays, mapped(out, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                                    "no memory for the result")));
    worker_write_report(WORKER_RETURNED);
    _exit(EXIT_PASSED); // nothing of the submission's runs any more
}
