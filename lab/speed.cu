/* SGEMM: what speed is compared with, cuBLAS, and what is right on a GPU: see struct lab_speed of
 * engine/lab.h. A verdict on the host would take longer than all that is timed. */
#include "../engine/report/element_type.h"
#include "../engine/report/text/numbers.h"
#include "sgemm.h"

#include <cublas_v2.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* What cuBLAS's documentation asks for on Hopper and newer; 4 MiB would do before. With a work
 * space of ours no timed call allocates one. */
static const size_t workspace_bytes = (size_t)32 << 20;

static const int threads = 256;
static const size_t most_blocks = 2048; /* enough to fill any GPU; threads take several elements */

/* What a comparison found, by one thread or by all of them. */
struct tally {
    unsigned long long wrong, unwritten, nan, measured;
    unsigned long long first_wrong; /* its index; ~0: none */
    unsigned long long worst; /* the bits of the largest error; for numbers >= 0 they order alike */
    double squares;
    struct box unwritten_box;
};

static const struct tally nothing = {0, 0, 0, 0, ~0ull, 0, 0, {INT_MAX, -1, INT_MAX, -1}};

struct product {
    struct speed speed; /* first: what others see of it */
    int m, n, k;
    float *A, *B, *C;
    double *wide_A, *wide_B; /* the same numbers in double precision */
    double *ref, *G;         /* AB and |A||B| */
    struct tally *tally;     /* on the device */
    void *workspace;
    cublasHandle_t wide, cublas; /* for the products in double precision, for run() */
};

static const char *failure(const char *what, const char *why) {
    static char text[200];
    snprintf(text, sizeof text, "%s: %s", what, why);
    return text;
}

static const char *failed(const char *what, cudaError_t error) {
    if (error == cudaSuccess) return NULL;
    cudaGetLastError(); /* or the next kernel's launch would report it as its own */
    return failure(what, cudaGetErrorString(error));
}

static const char *failed(const char *what, cublasStatus_t status) {
    return status == CUBLAS_STATUS_SUCCESS ? NULL : failure(what, cublasGetStatusString(status));
}

/* In a function that returns what has failed, or null. */
#define TRY(call)                                                                                  \
    if (const char *problem = call) return problem

static const char *unfinished(const char *what) {
    TRY(failed(what, cudaGetLastError()));
    return failed(what, cudaDeviceSynchronize());
}

/* ---- A and B --------------------------------------------------------------------------------- */

/* Each thread takes every so many elements. */
static __device__ size_t first_index(void) { return threadIdx.x + (size_t)blockIdx.x * threads; }

static __device__ size_t all_threads(void) { return (size_t)gridDim.x * threads; }

static int blocks(size_t elements) {
    const size_t count = (elements + threads - 1) / threads;
    return (int)(count < most_blocks ? count : most_blocks);
}

static __global__ void fill_with(float *out, double *wide, size_t elements, uint64_t key) {
    for (size_t i = first_index(); i < elements; i += all_threads()) {
        out[i] = uniform_of(random64(key, i));
        wide[i] = out[i];
    }
}

static __global__ void magnitudes(double *values, size_t elements) {
    for (size_t i = first_index(); i < elements; i += all_threads()) values[i] = fabs(values[i]);
}

static size_t size_A(const struct product *p) { return (size_t)p->m * (size_t)p->k; }
static size_t size_B(const struct product *p) { return (size_t)p->k * (size_t)p->n; }
static size_t size_C(const struct product *p) { return (size_t)p->m * (size_t)p->n; }

static const char *allocate(struct product *p) {
    const size_t A = size_A(p), B = size_B(p), C = size_C(p);
    const struct {
        void *where;
        size_t bytes;
    } all[] = {{&p->A, A * sizeof *p->A},           {&p->B, B * sizeof *p->B},
               {&p->C, C * sizeof *p->C},           {&p->wide_A, A * sizeof *p->wide_A},
               {&p->wide_B, B * sizeof *p->wide_B}, {&p->ref, C * sizeof *p->ref},
               {&p->G, C * sizeof *p->G},           {&p->tally, sizeof *p->tally},
               {&p->workspace, workspace_bytes}};
    for (const auto &one : all)
        TRY(failed("device memory", cudaMalloc((void **)one.where, one.bytes)));
    p->speed.in[MATRIX_A] = p->A;
    p->speed.in[MATRIX_B] = p->B;
    p->speed.out[MATRIX_C] = p->C;
    return NULL;
}

static const char *begin(const struct shape *shape, struct speed **speed) {
    struct product *p = (struct product *)calloc(1, sizeof *p);
    if (!p) return "out of memory";
    *speed = &p->speed;
    p->m = shape_size(shape, PARAM_M);
    p->n = shape_size(shape, PARAM_N);
    p->k = shape_size(shape, PARAM_K);
    TRY(allocate(p));
    TRY(failed("cublasCreate", cublasCreate(&p->wide)));
    TRY(failed("cublasCreate", cublasCreate(&p->cublas)));
    return failed("cublasSetWorkspace",
                  cublasSetWorkspace(p->cublas, p->workspace, workspace_bytes));
}

static void end(struct speed *speed) {
    struct product *p = (struct product *)speed;
    void *const memory[] = {p->A,   p->B, p->C,     p->wide_A,   p->wide_B,
                            p->ref, p->G, p->tally, p->workspace};
    cudaDeviceSynchronize();
    cublasDestroy(p->wide);
    cublasDestroy(p->cublas);
    for (void *piece : memory) cudaFree(piece);
    free(p);
}

/* ---- what is computed ------------------------------------------------------------------------ */

/* cuBLAS counts by columns: what it takes for B^T A^T = (AB)^T is, by rows, AB. */
static const char *multiply_wide(struct product *p, double *out) {
    const double one = 1, zero = 0;
    return failed("cublasDgemm",
                  cublasDgemm(p->wide, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m, p->k, &one, p->wide_B,
                              p->n, p->wide_A, p->k, &zero, out, p->n));
}

/* The same values as fill_matrix(FILL_RANDOM, seed, ...). */
static const char *fill(struct speed *speed, uint64_t seed) {
    struct product *p = (struct product *)speed;
    const uint64_t key = mix64(seed);
    fill_with<<<blocks(size_A(p)), threads>>>(p->A, p->wide_A, size_A(p), random64(key, MATRIX_A));
    fill_with<<<blocks(size_B(p)), threads>>>(p->B, p->wide_B, size_B(p), random64(key, MATRIX_B));
    TRY(multiply_wide(p, p->ref));
    magnitudes<<<blocks(size_A(p)), threads>>>(p->wide_A, size_A(p));
    magnitudes<<<blocks(size_B(p)), threads>>>(p->wide_B, size_B(p));
    TRY(multiply_wide(p, p->G));
    return unfinished("the product in double precision");
}

/* Float32 throughout, whatever NVIDIA_TF32_OVERRIDE says. */
static const char *run(struct speed *speed) {
    struct product *p = (struct product *)speed;
    const float one = 1, zero = 0;
    return failed("cublasGemmEx", cublasGemmEx(p->cublas, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m,
                                               p->k, &one, p->B, CUDA_R_32F, p->n, p->A, CUDA_R_32F,
                                               p->k, &zero, speed->out[MATRIX_C], CUDA_R_32F, p->n,
                                               CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT));
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static __device__ void add_unwritten(struct tally *tally, int row, int col) {
    struct box *box = &tally->unwritten_box;
    ++tally->unwritten;
    box->row_first = min(box->row_first, row);
    box->row_last = max(box->row_last, row);
    box->col_first = min(box->col_first, col);
    box->col_last = max(box->col_last, col);
}

static __device__ void look(struct tally *tally, float got, double ref, double G, double gamma,
                            unsigned long long index) {
    const double error = fabs(got - ref);
    if (!(error <= gamma * G)) { /* not so for NaN */
        ++tally->wrong;
        tally->nan += isnan(got);
        tally->first_wrong = min(tally->first_wrong, index);
    }
    if (!isfinite(error) || !(G > 0)) return;
    ++tally->measured;
    tally->worst = max(tally->worst, (unsigned long long)__double_as_longlong(error / G));
    tally->squares += error / G * (error / G);
}

static __device__ void add_up(struct tally *all, const struct tally *own) {
    atomicAdd(&all->measured, own->measured);
    atomicAdd(&all->squares, own->squares);
    atomicMax(&all->worst, own->worst);
    if (own->wrong == 0 && own->unwritten == 0) return;
    atomicAdd(&all->wrong, own->wrong);
    atomicAdd(&all->nan, own->nan);
    atomicMin(&all->first_wrong, own->first_wrong);
    atomicAdd(&all->unwritten, own->unwritten);
    atomicMin(&all->unwritten_box.row_first, own->unwritten_box.row_first);
    atomicMax(&all->unwritten_box.row_last, own->unwritten_box.row_last);
    atomicMin(&all->unwritten_box.col_first, own->unwritten_box.col_first);
    atomicMax(&all->unwritten_box.col_last, own->unwritten_box.col_last);
}

static __global__ void compare(const float *C, const double *ref, const double *G, size_t elements,
                               int n, double gamma, struct tally own, struct tally *all) {
    for (size_t i = first_index(); i < elements; i += all_threads())
        if (__float_as_uint(C[i]) == POISON_BITS)
            add_unwritten(&own, (int)(i / n), (int)(i % n));
        else
            look(&own, C[i], ref[i], G[i], gamma, i);
    add_up(all, &own);
}

/* The element that the first line about a wrong C is on. */
static const char *describe(const struct product *p, const float *C, unsigned long long index,
                            struct wrong_element *first) {
    float got;
    double G;
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } reads[] = {{&got, C + index, sizeof got},
                 {&first->expected, p->ref + index, sizeof first->expected},
                 {&G, p->G + index, sizeof G}};
    for (const auto &read : reads)
        TRY(failed("reading the product",
                   cudaMemcpy(read.to, read.from, read.bytes, cudaMemcpyDefault)));
    first->row = (int)(index / (unsigned)p->n);
    first->col = (int)(index % (unsigned)p->n);
    first->got = got;
    first->bound = gamma_bound((int64_t)p->k + 2) * G;
    return NULL;
}

static void summarize(const struct tally *tally, struct verdict *verdict) {
    double worst;
    static_assert(sizeof worst == sizeof tally->worst, "its bits");
    memcpy(&worst, &tally->worst, sizeof worst);
    verdict->wrong = tally->wrong;
    verdict->nan = tally->nan;
    verdict->unwritten = tally->unwritten;
    verdict->unwritten_box = tally->unwritten_box;
    verdict->max_error_u = worst / UNIT_ROUNDOFF;
    if (tally->measured)
        verdict->rms_error_u = sqrt(tally->squares / (double)tally->measured) / UNIT_ROUNDOFF;
    const bool within = !tally->wrong && !tally->unwritten;
    verdict->not_float32 = within && !is_float32(verdict);
    verdict->passed = within && !verdict->not_float32;
}

static const char *verify_on_gpu(struct speed *speed, struct verdict *verdict) {
    struct product *p = (struct product *)speed;
    const float *C = (const float *)speed->out[MATRIX_C];
    struct tally tally = nothing;
    *verdict = {};
    verdict->array = MATRIX_C;
    verdict->compared = size_C(p);
    TRY(unfinished("before the comparison"));
    TRY(failed("comparison", cudaMemcpy(p->tally, &nothing, sizeof nothing, cudaMemcpyDefault)));
    compare<<<blocks(size_C(p)), threads>>>(C, p->ref, p->G, size_C(p), p->n,
                                            gamma_bound((int64_t)p->k + 2), nothing, p->tally);
    TRY(unfinished("comparison"));
    TRY(failed("comparison", cudaMemcpy(&tally, p->tally, sizeof tally, cudaMemcpyDefault)));
    summarize(&tally, verdict);
    verdict->first_count = verdict->wrong != 0;
    return verdict->wrong ? describe(p, C, tally.first_wrong, &verdict->first[0]) : NULL;
}

extern "C" const struct lab_speed lab_speed = {begin, fill, true, run, verify_on_gpu, end};
