/* worker.cu: the part of `make bench` that touches the GPU. ladder.c starts it, one process for
 * each job, so that a kernel that breaks its CUDA context, crashes or hangs takes no other's
 * results with it.
 *
 *     worker FD machine                          what GPU this is, and what it can do at most
 *     worker FD check LIBRARY M K N [M K N ...]  one product of each size, judged
 *     worker FD time WARMUPS SAMPLES held|plain M K N LIBRARY...
 *                                                all libraries on one size, taking turns
 *
 * LIBRARY is a shared library with basicSgemm, or "cublas". What is found out goes to descriptor FD
 * at once, a line each, as said at each say(); a kernel's own output goes to standard error.
 * Exit status: 0; 1 a kernel broke the context, which the last line says; 2 usage; 3 the machine.
 */
#include "../../../grader/clock/l2.h"
#include "../../../grader/clock/product.h"
#include "../../../grader/clock/samples.h"
#include "ceilings.h"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_FAULT = 1, EXIT_USAGE = 2, EXIT_MACHINE = 3 };

/* ---- what is said ---------------------------------------------------------------------------- */

static FILE *lines;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(lines, format, arguments);
    va_end(arguments);
    fputc('\n', lines);
    fflush(lines);
}

/* The kernel whose call was the last thing that happened: what fails now is its doing. -1: none's.
 */
static int suspect = -1;

/* The last line is "machine-fault TEXT", or "fault INDEX TEXT". */
static void machine_fault(const char *what) {
    if (suspect >= 0) {
        say("fault %d %s, after it was called", suspect, what);
        exit(EXIT_FAULT);
    }
    say("machine-fault %s", what);
    exit(EXIT_MACHINE);
}

static void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    char text[300];
    snprintf(text, sizeof text, "%s: %s (%s)", what, cudaGetErrorString(error),
             cudaGetErrorName(error));
    machine_fault(text);
}

static void must(bool right, const char *why) {
    if (!right) machine_fault(why);
}

/* ---- machine --------------------------------------------------------------------------------- */

/* "580.159.04", which CUDA itself does not tell. */
static void say_driver(void) {
    char version[80] = "unknown";
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    int (*begin)(void) = nvml ? (int (*)(void))dlsym(nvml, "nvmlInit_v2") : NULL;
    int (*get)(char *, unsigned) =
        nvml ? (int (*)(char *, unsigned))dlsym(nvml, "nvmlSystemGetDriverVersion") : NULL;
    if (begin && get && begin() == 0) get(version, sizeof version);
    say("machine driver %s", version);
}

/* 13000 is 13.0. */
static void say_version(const char *what, int version) {
    say("machine %s %d.%d", what, version / 1000, version % 1000 / 10);
}

static int attribute(cudaDeviceAttr which) {
    int device, value = 0;
    must(cudaGetDevice(&device), "the GPU");
    must(cudaDeviceGetAttribute(&value, which, device), "the GPU's attributes");
    return value;
}

/* Lines: "machine KEY TEXT", "ceiling KEY NUMBER". */
static void describe_machine(void) {
    cudaDeviceProp properties;
    int driver, runtime, blas[3];
    must(cudaGetDeviceProperties(&properties, 0), "the GPU");
    must(cudaDriverGetVersion(&driver), "the driver");
    must(cudaRuntimeGetVersion(&runtime), "CUDA");
    for (int i = 0; i < 3; ++i) cublasGetProperty((libraryPropertyType)i, &blas[i]);
    say("machine device %s", properties.name);
    say("machine multiprocessors %d", properties.multiProcessorCount);
    say("machine memory_bytes %zu", properties.totalGlobalMem);
    say("machine l2_bytes %d", properties.l2CacheSize);
    say("machine boost_mhz %d", attribute(cudaDevAttrClockRate) / 1000);
    say_driver();
    say_version("cuda_of_driver", driver);
    say_version("cuda_runtime", runtime);
    say("machine nvcc %d.%d.%d", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__, __CUDACC_VER_BUILD__);
    say("machine cublas %d.%d.%d", blas[0], blas[1], blas[2]);
    struct ceilings ceilings;
    must(ceilings_measure(&ceilings), ceilings_error());
    say("ceiling ffma_flops %.6g", ceilings.ffma_flops);
    say("ceiling memory_bytes_per_second %.6g", ceilings.memory_bytes);
    say("ceiling l2_bytes_per_second %.6g", ceilings.l2_bytes);
    say("machine mhz_under_load %.0f", ceilings.mhz);
}

/* ---- a kernel -------------------------------------------------------------------------------- */

typedef void sgemm_function(int m, int n, int k, const float *A, const float *B, float *C);

struct kernel {
    sgemm_function *function; /* NULL: cuBLAS */
    cudaGraphExec_t graph;    /* of calls_per_graph calls; NULL: a plain call */
    int calls;
    bool out; /* of the race: it was wrong */
};

/* False after a line "unusable TEXT". */
static bool kernel_load(const char *library, struct kernel *kernel) {
    *kernel = {};
    kernel->calls = 1;
    if (strcmp(library, "cublas") == 0) return true;
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        say("unusable %s", dlerror());
        return false;
    }
    void *symbol = dlsym(handle, "_Z10basicSgemmiiiPKfS0_Pf");
    if (!symbol) symbol = dlsym(handle, "basicSgemm"); /* extern "C" */
    kernel->function = (sgemm_function *)symbol;
    if (!symbol)
        say("unusable it does not define void basicSgemm(int m, int n, int k, const float *A, "
            "const float *B, float *C)");
    return symbol != NULL;
}

/* ---- one product, and a call of a kernel ----------------------------------------------------- */

/* Kernels are compiled with --default-stream per-thread: on a stream that can be captured. */
static const cudaStream_t stream = cudaStreamPerThread;

/* Below this many operations a call is shorter than what events can tell, and is timed as one of a
 * graph of many. */
static const double graph_flops = 2.0 * 128 * 128 * 128;
enum { CALLS_PER_GRAPH = 20, TRIES = 4 };

struct bench {
    int m, n, k;
    struct product *product;
    struct l2 *l2;
    float *C;
    cudaEvent_t begin, end;
    bool held;    /* l2_hold() before each call */
    double least; /* seconds that a call takes at least, by the GPU's boost clock */
};

static uint64_t fresh_seed(void) {
    uint64_t seed;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed) machine_fault("getrandom gives nothing");
    return seed;
}

static bool fits(const struct bench *b, size_t *needed, size_t *available) {
    size_t all;
    *needed = product_bytes(b->m, b->n, b->k) + sizeof(float) * (size_t)b->m * (size_t)b->n;
    must(cudaMemGetInfo(available, &all), "the GPU's memory");
    return *needed < *available;
}

static double least_seconds(int m, int n, int k) {
    const double ffma_per_cycle = 128; /* of a multiprocessor; no GPU so far has more */
    double hertz = 1e3 * attribute(cudaDevAttrClockRate);
    return fastest_possible(m, n, k,
                            2 * ffma_per_cycle * hertz * attribute(cudaDevAttrMultiProcessorCount));
}

/* False after a line "large INDEX TEXT": does not fit. */
static bool bench_new(struct bench *b, int m, int k, int n, int index) {
    size_t needed, available;
    *b = {};
    b->m = m;
    b->n = n;
    b->k = k;
    if (!fits(b, &needed, &available)) {
        say("large %d it takes %.1f GB of the GPU's memory, of which %.1f GB are free", index,
            1e-9 * (double)needed, 1e-9 * (double)available);
        return false;
    }
    b->product = product_new(m, n, k);
    must(b->product != NULL, product_error());
    b->l2 = l2_new();
    must(b->l2 != NULL, l2_error());
    must(cudaMalloc((void **)&b->C, sizeof(float) * (size_t)m * (size_t)n), "device memory");
    must(cudaEventCreate(&b->begin), "an event");
    must(cudaEventCreate(&b->end), "an event");
    b->least = least_seconds(m, n, k);
    return true;
}

static void bench_free(struct bench *b) {
    cudaEventDestroy(b->begin);
    cudaEventDestroy(b->end);
    cudaFree(b->C);
    l2_free(b->l2);
    product_free(b->product);
}

/* The context is gone, or nobody knows: line "fault INDEX TEXT". */
static void check_fault(cudaError_t error, const char *what, int index) {
    if (error == cudaSuccess) return;
    say("fault %d %s: %s (%s)", index, what, cudaGetErrorString(error), cudaGetErrorName(error));
    exit(EXIT_FAULT);
}

/* cuBLAS is never suspected: if it fails, so does the machine. */
static void suspect_kernel(const struct kernel *kernel, int index) {
    suspect = kernel->function ? index : -1;
}

static void call_once(struct bench *b, const struct kernel *kernel) {
    if (kernel->function)
        kernel->function(b->m, b->n, b->k, product_A(b->product), product_B(b->product), b->C);
    else
        must(product_cublas(b->product, b->C, stream), product_error());
}

static void call(struct bench *b, const struct kernel *kernel) {
    if (kernel->graph)
        cudaGraphLaunch(kernel->graph, stream);
    else
        call_once(b, kernel);
}

/* Nothing of earlier calls in C or in the cache, and the GPU idle. */
static void prepare(struct bench *b) {
    must(product_poison(b->product, b->C, stream), product_error());
    must(l2_flush(b->l2, stream), l2_error());
    must(cudaDeviceSynchronize(), "before the call");
}

static void wait_for_call(int index) {
    check_fault(cudaGetLastError(), "the launch", index);
    check_fault(cudaDeviceSynchronize(), "the kernel", index);
    check_fault(cudaGetLastError(), "the kernel", index);
}

static bool nothing_written(const struct bench *b, const struct product_verdict *verdict) {
    return verdict->unwritten == (size_t)b->m * (size_t)b->n;
}

static struct product_verdict judge(struct bench *b) {
    struct product_verdict verdict;
    must(product_verdict(b->product, b->C, &verdict), product_error());
    return verdict;
}

/* Line "wrong INDEX TEXT". */
static void say_wrong(const struct bench *b, const struct product_verdict *v, int index) {
    if (v->not_float32)
        say("wrong %d less precise than float32: errors up to %.0f u, %.1f u on average", index,
            v->max_u, v->rms_u);
    else if (v->wrong)
        say("wrong %d C[%d][%d] is %g, not %g; so are %zu of %zu elements, and %zu unwritten",
            index, v->row, v->col, v->got, v->expected, v->wrong, (size_t)b->m * (size_t)b->n,
            v->unwritten);
    else
        say("wrong %d %zu of %zu elements are never written, first C[%d][%d]", index, v->unwritten,
            (size_t)b->m * (size_t)b->n, v->row, v->col);
}

/* ---- check ----------------------------------------------------------------------------------- */

/* Lines: "begin INDEX", then "right INDEX MAX_U RMS_U", "nothing INDEX" (C untouched), or
 * wrong, fault, large. */
static void check_shape(const struct kernel *kernel, int m, int k, int n, int index) {
    struct bench b;
    say("begin %d", index);
    if (!bench_new(&b, m, k, n, index)) return;
    must(product_fill(b.product, fresh_seed()), product_error());
    prepare(&b);
    suspect_kernel(kernel, index);
    call_once(&b, kernel);
    wait_for_call(index);
    struct product_verdict verdict = judge(&b);
    if (nothing_written(&b, &verdict))
        say("nothing %d", index);
    else if (verdict_passed(&verdict))
        say("right %d %.6g %.6g", index, verdict.max_u, verdict.rms_u);
    else
        say_wrong(&b, &verdict, index);
    bench_free(&b);
    suspect = -1;
}

static void check(const char *library, int count, char **sizes) {
    struct kernel kernel;
    if (!kernel_load(library, &kernel)) return;
    for (int i = 0; i < count; ++i)
        check_shape(&kernel, atoi(sizes[3 * i]), atoi(sizes[3 * i + 1]), atoi(sizes[3 * i + 2]), i);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Whatever a kernel does that cannot be captured, such as to wait, ends the capture; then it is
 * called plainly. */
static void capture(struct bench *b, struct kernel *kernel, int index) {
    cudaGraph_t graph = NULL;
    suspect_kernel(kernel, index);
    call_once(b, kernel); /* what is loaded at a first call is not to be loaded in between */
    wait_for_call(index);
    must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a graph");
    for (int i = 0; i < CALLS_PER_GRAPH; ++i) call_once(b, kernel);
    bool captured = cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph &&
                    cudaGraphInstantiate(&kernel->graph, graph, 0) == cudaSuccess;
    if (graph) cudaGraphDestroy(graph);
    if (captured)
        kernel->calls = CALLS_PER_GRAPH;
    else
        kernel->graph = NULL;
    cudaGetLastError();
    suspect = -1;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One sample by the rules: seconds, of all calls of a graph together, by events and by the host. */
static void take(struct bench *b, const struct kernel *kernel, int index, double *event,
                 double *host) {
    float milliseconds;
    call(b, kernel); /* one that nobody looks at, as before each sample of the clock's */
    wait_for_call(index);
    prepare(b);
    if (b->held) must(l2_hold(stream), l2_error());
    double begun = now();
    must(cudaEventRecord(b->begin, stream), "an event");
    call(b, kernel);
    cudaError_t launched = cudaGetLastError();
    cudaEventRecord(b->end, stream);
    cudaError_t ended = cudaDeviceSynchronize();
    *host = now() - begun;
    check_fault(launched, "the launch", index);
    check_fault(ended, "the kernel", index);
    must(cudaEventElapsedTime(&milliseconds, b->begin, b->end), "an event");
    *event = 1e-3 * milliseconds;
}

/* Until events and host agree: a machine may be busy for a moment. False after a line "disagree
 * INDEX TEXT". */
static bool take_agreeing(struct bench *b, const struct kernel *kernel, int index, double *event,
                          double *host) {
    for (int i = 0; i < TRIES; ++i) {
        take(b, kernel, index, event, host);
        if (times_agree(*event, *host)) return true;
    }
    say("disagree %d the GPU's events say %.1f us, the host's clock %.1f us, %d times in a row",
        index, 1e6 * *event, 1e6 * *host, TRIES);
    return false;
}

/* Lines: "begin INDEX", then "sample INDEX ROUND EVENT HOST" (seconds of one call; not in warm-up
 * rounds, which are below 0), or wrong, fault, disagree, "impossible INDEX TEXT". */
static void one_sample(struct bench *b, struct kernel *kernel, int index, int round) {
    double event, host;
    say("begin %d", index);
    kernel->out = true;
    suspect_kernel(kernel, index);
    if (!take_agreeing(b, kernel, index, &event, &host)) return;
    struct product_verdict verdict = judge(b);
    suspect = -1;
    if (!verdict_passed(&verdict)) {
        say_wrong(b, &verdict, index);
        return;
    }
    if (event / kernel->calls < b->least) {
        say("impossible %d it took %.2f us, and this GPU needs %.2f us for so many operations",
            index, 1e6 * event / kernel->calls, 1e6 * b->least);
        return;
    }
    kernel->out = false;
    if (round >= 0)
        say("sample %d %d %.9g %.9g", index, round, event / kernel->calls, host / kernel->calls);
}

/* Lines: "how INDEX graph|call CALLS" for each; "round ROUND"; those of one_sample(). */
static void race(struct bench *b, struct kernel *kernels, int count, int warm_ups, int samples) {
    for (int i = 0; i < count; ++i) {
        say("begin %d", i);
        if (2.0 * b->m * b->n * b->k < graph_flops) capture(b, &kernels[i], i);
        say("how %d %s %d", i, kernels[i].graph ? "graph" : "call", kernels[i].calls);
    }
    for (int round = -warm_ups; round < samples; ++round) {
        say("round %d", round);
        must(product_fill(b->product, fresh_seed()), product_error());
        for (int i = 0; i < count; ++i) {
            int index = (round + warm_ups + i) % count; /* each is first in turn */
            if (!kernels[index].out) one_sample(b, &kernels[index], index, round);
        }
    }
}

static void time_kernels(int warm_ups, int samples, bool held, char **sizes, int count,
                         char **libraries) {
    struct bench b;
    struct kernel *kernels = (struct kernel *)calloc((size_t)count, sizeof *kernels);
    must(kernels != NULL, "out of memory");
    for (int i = 0; i < count; ++i) kernels[i].out = !kernel_load(libraries[i], &kernels[i]);
    if (!bench_new(&b, atoi(sizes[0]), atoi(sizes[1]), atoi(sizes[2]), 0)) return;
    b.held = held;
    race(&b, kernels, count, warm_ups, samples);
    bench_free(&b);
    free(kernels);
}

/* ---------------------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    int fd = argc > 2 ? atoi(argv[1]) : -1;
    lines = fd > 2 ? fdopen(fd, "w") : NULL;
    if (!lines) {
        fprintf(stderr, "worker: is started by build/bench/ladder, see worker.cu\n");
        return EXIT_USAGE;
    }
    const char *job = argv[2];
    must(cudaFree(0), "no GPU answers");
    if (strcmp(job, "machine") == 0)
        describe_machine();
    else if (strcmp(job, "check") == 0 && argc > 6 && (argc - 4) % 3 == 0)
        check(argv[3], (argc - 4) / 3, argv + 4);
    else if (strcmp(job, "time") == 0 && argc > 9)
        time_kernels(atoi(argv[3]), atoi(argv[4]), strcmp(argv[5], "held") == 0, argv + 6, argc - 9,
                     argv + 9);
    else
        return EXIT_USAGE;
    say("end");
    return 0;
}
