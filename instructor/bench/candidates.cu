/* candidates.cu: what each kernel of instructor/solutions/9_every_shape takes, with k shared in
 * every way that it can be. fit.py fits the constants of its model to that.
 *
 *     candidates SAMPLES        the shapes from standard input, a line "m k n" each
 *
 * Standard output has a JSON object a line for each shape: "library", the microseconds of pedantic
 * cuBLAS, and "runs", a list of
 *
 *     [kernel, share, microseconds, chunks, waves, loads, parts, rim, rim's k]
 *
 * Kernel: its number in the table. The last six are what cost_of() of model.cuh counts, parts 0
 * where there are none, rim what its blocks read again. Each time is the median of SAMPLES by the
 * grader's clock, cold L2 cache, and after a call of cuBLAS, so that the kernel's code has to come
 * from memory, too; of one alone, where a kernel takes much longer than the best so far. Every
 * kernel's C is compared with a product in double precision.
 *
 * Exit status: 0; 1 a C is wrong; 2 bad input; 3 the machine is at fault. */
extern "C" {
#include "../../grader/clock/timer.h"
}
#include "../../lab/sgemm.h"
#include "../../support.h"
#include "../solutions/9_every_shape/every_shape.cu"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SAMPLES = 100 };
static const double far = 4, hopeless = 1.4; /* times the best: one sample, and none is kept */
static struct timer *timer;
static int samples, wrong;

/* ---- failures -------------------------------------------------------------------------------- */

static void stop(const char *what, const char *why) {
    fprintf(stderr, "candidates: %s: %s\n", what, why);
    exit(3);
}

static void must(const char *what, cudaError_t error) {
    if (error != cudaSuccess) stop(what, cudaGetErrorString(error));
}

static void must(const char *problem) {
    if (problem) stop("the product", problem);
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Microseconds; what comes `before` is not counted. */
template <class Before, class Work> static double sample(Before before, Work work) {
    struct times times;
    before();
    must("the timer", timer_start(timer));
    work();
    must("the launch", cudaGetLastError());
    must("the timer", timer_stop(timer, &times));
    return times.event_seconds * 1e6;
}

/* The median; the first sample if that is more than `most`. */
template <class Before, class Work> static double median(double most, Before before, Work work) {
    double all[MOST_SAMPLES];
    for (int i = 0; i < samples; ++i) {
        all[i] = sample(before, work);
        if (i == 0 && all[0] > most) return all[0];
    }
    return summarise(all, samples).median;
}

/* Whether it can be any good: the blocks that share k have to be few enough to run at the same
 * time, tiles not much larger than C, nor so small that elements are loaded too often. */
static bool is_sensible(const Kernel &kernel, const Problem &p, const Plan &plan, int processors) {
    const double tile = (double)kernel.rows * kernel.cols, count = (double)p.m * p.n;
    const double tiles = (double)plan.tiles_m * plan.tiles_n, products = count * p.k;
    const double reuse = tile / (kernel.rows + kernel.cols); /* products for each element loaded */
    if (plan.share > 1 && tiles * plan.share > 16.0 * processors) return false;
    if (tiles * tile > 40 * count && count > 64) return false;
    if (reuse < 32 && products / reuse > 5e9) return false;
    return (products <= 3e8 || reuse >= 8 || p.m <= 16 || p.n <= 16);
}

/* ---- a shape --------------------------------------------------------------------------------- */

static void poison(const Problem &p) {
    const size_t elements = (size_t)p.m * (size_t)p.n;
    if (poison_device((CUdeviceptr)p.C, elements * sizeof *p.C) != CUDA_SUCCESS)
        stop("C", "it cannot be poisoned");
}

static void check(struct speed *product, const Problem &p, int number) {
    struct verdict verdict;
    product->out[MATRIX_C] = p.C;
    must(lab_speed.verify(product, &verdict));
    if (verdict.passed) return;
    fprintf(stderr, "candidates: kernel %d is wrong: m=%d k=%d n=%d\n", number, p.m, p.k, p.n);
    wrong = 1;
}

template <class Library>
static void measure_kernels(struct speed *product, const Problem &p, int processors, Library cublas,
                            double best) {
    const char *comma = "";
    for (int i = 0; i < (int)(sizeof kernels / sizeof *kernels); ++i)
        for (int share : shares) {
            const Kernel &kernel = kernels[i];
            Plan made;
            if (!fits(kernel, p) || !make_plan(made, kernel, p, processors, share) ||
                !is_sensible(kernel, p, made, processors))
                continue;
            auto work = [&] { kernel.launch(kernel, p, made); };
            poison(p);
            double took = sample(cublas, work);
            if (took > far * best)
                took = sample(cublas, work); /* the host may have been disturbed */
            if (took <= far * best) {
                check(product, p, i);
                took = median(hopeless * best, cublas, work);
            }
            printf("%s[%d, %d, %.2f, %d, %g, %g, %d, %g, %g]", comma, i, made.share, took,
                   made.chunks, made.waves, made.loads, made.share == 1 ? 0 : made.share,
                   made.read_again, made.rim_k);
            comma = ", ";
            best = fmin(best, took);
        }
}

static void measure(int m, int n, int k, int processors) {
    const struct shape shape = {{m, n, k}};
    struct speed *product;
    float *C;
    must(lab_speed.begin(&shape, &product));
    must("memory for C", cudaMalloc(&C, (size_t)m * (size_t)n * sizeof *C));
    must(lab_speed.fill(product, 1));
    const Problem p = {(const float *)product->in[MATRIX_A],
                       (const float *)product->in[MATRIX_B],
                       C,
                       m,
                       n,
                       k,
                       1,
                       0};
    void *const of_cublas = product->out[MATRIX_C];
    auto cublas = [&] {
        product->out[MATRIX_C] = of_cublas;
        must(lab_speed.run(product));
    };
    auto nothing = [] {};
    sample(nothing, cublas); /* loads what is not loaded yet */
    const double library = median(INFINITY, nothing, cublas);
    printf("{\"m\": %d, \"k\": %d, \"n\": %d, \"library\": %.2f, \"runs\": [", m, k, n, library);
    measure_kernels(product, p, processors, cublas, 2 * library);
    printf("]}\n");
    fflush(stdout);
    must("memory", cudaFree(C));
    lab_speed.end(product);
}

int main(int argc, char **argv) {
    int device, processors = 0, m, n, k;
    char line[100], rest;
    samples = argc == 2 ? atoi(argv[1]) : 0;
    if (samples < 1 || samples > MOST_SAMPLES) {
        fprintf(stderr, "usage: candidates SAMPLES < shapes; at most %d samples\n", MOST_SAMPLES);
        return 2;
    }
    must("the device", cudaGetDevice(&device));
    must("the device", cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    must("the timer", timer_new(&timer));
    const double begun = clock_seconds(); /* the clocks of a GPU that had nothing to do are low */
    while (clock_seconds() - begun < 0.5) sample([] {}, [] {});
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%d %d %d %c", &m, &k, &n, &rest) != 3 || m < 1 || k < 1 || n < 1) {
            fprintf(stderr, "candidates: not a shape: %s", line);
            return 2;
        }
        measure(m, n, k, processors);
    }
    return wrong;
}
