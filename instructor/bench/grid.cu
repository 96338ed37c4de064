/* grid.cu: a kernel beside cuBLAS and cuBLASLt on many shapes, in one process. `make bench GRID=1`
 * links it with the kernel, whose basicSgemm it calls, and runs it:
 *
 *     grid SAMPLES        the shapes from standard input, a line "m k n" each
 *
 * Standard output has a JSON object a line for each shape (grid.py). cuBLAS, the fastest of
 * cuBLASLt's first HEURISTICS algorithms and the kernel take turns, SAMPLES of each, float32
 * throughout, each sample with a cold L2 cache (timer.h of the grader's clock); the kernel's C is
 * compared with a product in double precision, every element. Where a vector and a matrix of
 * READ_BYTES or more are multiplied, so does a kernel that only reads the matrix. Where a
 * quarter of one's times is more than APART and APART_SECONDS above the shortest, all is measured
 * again, TRIES times at most; what counts is the last. A sample that the host enqueued too late is
 * taken again, LATE_TRIES times at most. With a SAMPLES below 0 cuBLAS alone is
 * timed, and all its times are printed: what the measurement itself varies by.
 *
 * Exit status: 0; 2 bad input; 3 the machine is at fault. */
extern "C" {
#include "../../grader/clock/timer.h"
}
#include "../../lab/sgemm.h"
#include "../../support.h"

#include <cuda.h>

#include <cublasLt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    HEURISTICS = 16,
    TRIALS = 3,
    TRIES = 3,
    LATE_TRIES = 10,
    MOST_SAMPLES = 1000,
    READ_BYTES = 16000000
};
static const double APART = 0.15, APART_SECONDS = 2e-6; /* more is a disturbance */
enum contestant { CUBLAS, CUBLASLT, KERNEL, READ, CONTESTANTS };

static const char *const names[] = {"cublas", "cublaslt", "kernel", "read"};
static const size_t workspace_bytes = (size_t)64 << 20;

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C);

/* One product, and what computes it. */
struct contest {
    int m, n, k;
    struct speed *product; /* and cuBLAS's */
    const float *device_A, *device_B;
    float *C;
    struct timer *timer;
    void *workspace;
    cublasLtHandle_t lt;
    cublasLtMatmulDesc_t multiply;
    cublasLtMatrixLayout_t A, B, result;
    cublasLtMatmulHeuristicResult_t algorithms[HEURISTICS];
    int algorithms_found, algorithm; /* -1: none */
    int late;                        /* samples that have some of the host's time */
};

/* ---- failures -------------------------------------------------------------------------------- */

static void stop(const char *what, const char *why) {
    fprintf(stderr, "grid: %s: %s\n", what, why);
    exit(3);
}

static void must(const char *what, cudaError_t error) {
    if (error != cudaSuccess) stop(what, cudaGetErrorString(error));
}

static void must(const char *what, cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS) stop(what, cublasGetStatusString(status));
}

static void must(const char *problem) {
    if (problem) stop("the product", problem);
}

/* ---- what takes part ------------------------------------------------------------------------- */

/* cuBLASLt counts by columns: B^T A^T = (AB)^T. */
static cublasStatus_t multiply(struct contest *c) {
    const float one = 1, zero = 0;
    return cublasLtMatmul(c->lt, c->multiply, &one, c->device_B, c->B, c->device_A, c->A, &zero,
                          c->C, c->result, c->C, c->result, &c->algorithms[c->algorithm].algo,
                          c->workspace, workspace_bytes, 0);
}

enum { READERS = 1024, AT_ONCE = 8 };

__global__ void __launch_bounds__(READERS) read_all(const float4 *from, size_t count, float *C) {
    const size_t first = (size_t)blockIdx.x * (READERS * AT_ONCE) + threadIdx.x;
    float sum = 0;
#pragma unroll
    for (int u = 0; u < AT_ONCE; ++u) {
        const size_t i = first + u * READERS;
        const float4 v = i < count ? __ldcs(from + i) : make_float4(0, 0, 0, 0);
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum == -1e30f) *C = sum; /* never: but so the loads are needed */
}

static size_t matrix_floats(const struct contest *c) {
    return (size_t)c->k * (size_t)(c->m > c->n ? c->m : c->n);
}

static bool takes_part(const struct contest *c, enum contestant who) {
    if (who == READ) return (c->m == 1 || c->n == 1) && 4 * matrix_floats(c) >= READ_BYTES;
    return who != CUBLASLT || c->algorithm >= 0;
}

static void read_matrix(struct contest *c) {
    const float *matrix = c->m > c->n ? c->device_A : c->device_B;
    const size_t count = matrix_floats(c) / 4, of_block = READERS * AT_ONCE;
    read_all<<<(unsigned)((count + of_block - 1) / of_block), READERS>>>((const float4 *)matrix,
                                                                         count, c->C);
    must("the read", cudaGetLastError());
}

static void call(struct contest *c, enum contestant who) {
    if (who == CUBLAS)
        must(lab_speed.run(c->product));
    else if (who == CUBLASLT)
        must("cublasLtMatmul", multiply(c));
    else if (who == READ)
        read_matrix(c);
    else {
        basicSgemm(c->m, c->n, c->k, c->device_A, c->device_B, c->C);
        must("the kernel's launch", cudaGetLastError());
    }
}

static void poison(struct contest *c) {
    const size_t elements = (size_t)c->m * (size_t)c->n;
    if (poison_device((CUdeviceptr)c->C, elements * sizeof *c->C) != CUDA_SUCCESS)
        stop("C", "it cannot be poisoned");
}

/* Seconds, by the events. Again where the host was late, for its time is not to be measured: of
 * cuBLAS's first launch of a shape, or while other work disturbs it. */
static double sample(struct contest *c, enum contestant who) {
    struct times times;
    bool in_time = false;
    for (int i = 0; i < LATE_TRIES && !in_time; ++i) {
        poison(c);
        must("the timer", timer_start(c->timer));
        call(c, who);
        in_time = timer_holds(c->timer);
        must("the timer", timer_stop(c->timer, &times));
    }
    c->late += !in_time;
    return times.event_seconds;
}

/* Sets c->algorithm to the fastest by the median of TRIALS, -1 if cuBLASLt has none. */
static void choose_algorithm(struct contest *c) {
    double best = INFINITY;
    int chosen = -1;
    for (int i = 0; i < c->algorithms_found; ++i) {
        double seconds[TRIALS];
        c->algorithm = i;
        if (multiply(c) != CUBLAS_STATUS_SUCCESS) continue;
        for (int trial = 0; trial < TRIALS; ++trial) seconds[trial] = sample(c, CUBLASLT);
        const struct summary of_trials = summarise(seconds, TRIALS);
        if (of_trials.median >= best) continue;
        best = of_trials.median;
        chosen = i;
    }
    c->algorithm = chosen;
}

static void set_up_lt(struct contest *c) {
    cublasLtMatmulPreference_t preference;
    must("cublasLtCreate", cublasLtCreate(&c->lt));
    must("cuBLASLt",
         cublasLtMatmulDescCreate(&c->multiply, CUBLAS_COMPUTE_32F_PEDANTIC, CUDA_R_32F));
    must("cuBLASLt", cublasLtMatrixLayoutCreate(&c->A, CUDA_R_32F, c->k, c->m, c->k));
    must("cuBLASLt", cublasLtMatrixLayoutCreate(&c->B, CUDA_R_32F, c->n, c->k, c->n));
    must("cuBLASLt", cublasLtMatrixLayoutCreate(&c->result, CUDA_R_32F, c->n, c->m, c->n));
    must("cuBLASLt", cublasLtMatmulPreferenceCreate(&preference));
    must("cuBLASLt",
         cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &workspace_bytes, sizeof workspace_bytes));
    /* None at all is no failure: cuBLAS takes part as well. */
    if (cublasLtMatmulAlgoGetHeuristic(c->lt, c->multiply, c->B, c->A, c->result, c->result,
                                       preference, HEURISTICS, c->algorithms,
                                       &c->algorithms_found) != CUBLAS_STATUS_SUCCESS)
        c->algorithms_found = 0;
    must("cuBLASLt", cublasLtMatmulPreferenceDestroy(preference));
}

static void tear_down(struct contest *c) {
    cublasLtMatrixLayoutDestroy(c->A);
    cublasLtMatrixLayoutDestroy(c->B);
    cublasLtMatrixLayoutDestroy(c->result);
    cublasLtMatmulDescDestroy(c->multiply);
    cublasLtDestroy(c->lt);
    lab_speed.end(c->product);
}

/* ---- a shape --------------------------------------------------------------------------------- */

static void print_summary(const char *name, const struct summary *s) {
    printf(", \"%s\": {\"median\": %.9g, \"minimum\": %.9g, \"quartile_1\": %.9g, "
           "\"quartile_3\": %.9g}",
           name, s->median, s->minimum, s->quartile_1, s->quartile_3);
}

static void check_kernel(struct contest *c) {
    struct verdict verdict;
    poison(c);
    call(c, KERNEL);
    must("the kernel", cudaDeviceSynchronize());
    must(lab_speed.verify(c->product, &verdict));
    printf(", \"right\": %s, \"max_u\": %.3g", verdict.passed ? "true" : "false",
           verdict.max_error_u);
}

/* Whether the machine was disturbed: a quarter of someone's times is far above the shortest. */
static bool take_turns(struct contest *c, int samples, struct summary *of) {
    static double seconds[CONTESTANTS][MOST_SAMPLES];
    bool disturbed = false;
    c->late = 0;
    for (int i = -1; i < samples; ++i) /* the first round loads what is not loaded yet */
        for (int turn = 0; turn < CONTESTANTS; ++turn) {
            const enum contestant who = (enum contestant)((turn + i + 1) % CONTESTANTS);
            if (!takes_part(c, who)) continue;
            const double took = sample(c, who);
            if (i >= 0) seconds[who][i] = took;
        }
    for (int who = 0; who < CONTESTANTS; ++who) {
        if (!takes_part(c, (enum contestant)who)) continue;
        of[who] = summarise(seconds[who], samples);
        const double apart = of[who].quartile_3 - of[who].minimum;
        disturbed |= apart > APART_SECONDS && apart > APART * of[who].minimum;
    }
    return disturbed;
}

static void compete(struct contest *c, int samples) {
    struct summary of[CONTESTANTS];
    int tries = 1;
    set_up_lt(c);
    check_kernel(c);
    choose_algorithm(c);
    while (take_turns(c, samples, of) && tries < TRIES) {
        ++tries;
        choose_algorithm(c);
    }
    for (int who = 0; who < CONTESTANTS; ++who)
        if (takes_part(c, (enum contestant)who)) print_summary(names[who], &of[who]);
    printf(", \"algorithm\": %d, \"tries\": %d, \"late\": %d", c->algorithm, tries, c->late);
    tear_down(c);
}

static void compete_alone(struct contest *c, int samples) {
    sample(c, CUBLAS);
    printf(", \"samples\": [");
    for (int i = 0; i < samples; ++i) printf("%s%.9g", i ? ", " : "", sample(c, CUBLAS));
    printf("]");
    lab_speed.end(c->product);
}

static void measure(struct contest *c, int samples) {
    const struct shape shape = {{c->m, c->n, c->k}};
    must(lab_speed.begin(&shape, &c->product));
    must(lab_speed.fill(c->product, 1));
    c->device_A = (const float *)c->product->in[MATRIX_A];
    c->device_B = (const float *)c->product->in[MATRIX_B];
    c->C = (float *)c->product->out[MATRIX_C];
    printf("{\"m\": %d, \"k\": %d, \"n\": %d", c->m, c->k, c->n);
    if (samples < 0)
        compete_alone(c, -samples);
    else
        compete(c, samples);
    printf("}\n");
    fflush(stdout);
}

/* Half a second of work: the clocks of a GPU that had nothing to do are low. */
static void warm_up(struct contest *c) {
    const double begun = clock_seconds();
    struct times times;
    while (clock_seconds() - begun < 0.5) {
        must("the timer", timer_start(c->timer));
        must("the timer", timer_stop(c->timer, &times));
    }
}

int main(int argc, char **argv) {
    struct contest c = {};
    char line[100], rest;
    const int samples = argc == 2 ? atoi(argv[1]) : 0;
    if (samples == 0 || abs(samples) > MOST_SAMPLES) {
        fprintf(stderr, "usage: grid SAMPLES < shapes; at most %d samples\n", MOST_SAMPLES);
        return 2;
    }
    must("the timer", timer_new(&c.timer));
    must("memory for cuBLASLt", cudaMalloc(&c.workspace, workspace_bytes));
    warm_up(&c);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%d %d %d %c", &c.m, &c.k, &c.n, &rest) != 3 || c.m < 1 || c.k < 1 ||
            c.n < 1) {
            fprintf(stderr, "grid: not a shape: %s", line);
            return 2;
        }
        measure(&c, samples);
    }
    return 0;
}
