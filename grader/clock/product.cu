/* product.cu: see product.h. Everything here runs on the legacy default stream and is waited for,
 * but for what product_poison() and product_cublas() put on a stream of the caller's. */
#include "product.h"

#include <cublas_v2.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in support.h, which is C only: docs/sgemm.md has the reasons. */
static const uint32_t poison_bits = 0x7FA5A5A5u;
static const double unit_roundoff = 1.0 / (1 << 24);
static const double float32_max_u = 32.0, float32_rms_u = 4.0;

/* What cuBLAS's documentation asks for on Hopper and newer; 4 MiB would do before. As a work space
 * of ours no call allocates one, which a captured call could not. */
static const size_t workspace_bytes = (size_t)32 << 20;

static const int threads = 256;
static const size_t most_blocks = 2048; /* enough to fill any GPU; threads take several elements */

struct tally; /* of a verdict, on the device; below */

struct product {
    int m, n, k;
    float *A, *B;
    double *wide_A, *wide_B; /* the same numbers in double precision */
    double *ref, *G;         /* AB and |A||B| */
    struct tally *tally;
    void *workspace;
    cublasHandle_t wide;   /* for the products in double precision, */
    cublasHandle_t cublas; /* and for product_cublas(), so that a timed call finds it set up */
    cudaStream_t stream;   /* that of the last product_cublas() */
    bool stream_set;
};

/* ---- failures -------------------------------------------------------------------------------- */

static char reason[240];

const char *product_error(void) { return reason; }

static bool right(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return true;
    snprintf(reason, sizeof reason, "%s: %s (%s)", what, cudaGetErrorString(error),
             cudaGetErrorName(error));
    cudaGetLastError(); /* or the next kernel's launch would report it as its own */
    return false;
}

static bool right(cublasStatus_t status, const char *what) {
    if (status == CUBLAS_STATUS_SUCCESS) return true;
    snprintf(reason, sizeof reason, "%s: %s", what, cublasGetStatusString(status));
    return false;
}

static bool finished(const char *what) {
    return right(cudaGetLastError(), what) && right(cudaDeviceSynchronize(), what);
}

static int blocks(size_t elements) {
    size_t count = (elements + threads - 1) / threads;
    return (int)(count < most_blocks ? count : most_blocks);
}

/* ---- A and B --------------------------------------------------------------------------------- */

/* splitmix64, started at a key: mix64() and random64() of support/shared.h. */
static __host__ __device__ uint64_t mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static __host__ __device__ uint64_t random64(uint64_t key, uint64_t index) {
    return mix64(key + (index + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Odd numerators over 2^24: 24 significant bits, symmetric about 0. uniform() of support.c. */
static __device__ float uniform(uint64_t bits) {
    int32_t numerator = 2 * (int32_t)(bits >> 40) + 1 - (1 << 24);
    return (float)numerator * 0x1p-24f;
}

/* Each thread takes every so many elements. */
static __device__ size_t first_index(void) { return threadIdx.x + (size_t)blockIdx.x * threads; }

static __device__ size_t all_threads(void) { return (size_t)gridDim.x * threads; }

static __global__ void fill(float *out, double *wide, size_t elements, uint64_t key) {
    for (size_t i = first_index(); i < elements; i += all_threads()) {
        out[i] = uniform(random64(key, i));
        wide[i] = out[i];
    }
}

static __global__ void magnitudes(double *values, size_t elements) {
    for (size_t i = first_index(); i < elements; i += all_threads()) values[i] = fabs(values[i]);
}

static __global__ void poison(uint32_t *values, size_t elements, uint32_t bits) {
    for (size_t i = first_index(); i < elements; i += all_threads()) values[i] = bits;
}

/* ---- making and ending one ------------------------------------------------------------------- */

static size_t size_A(const struct product *p) { return (size_t)p->m * (size_t)p->k; }
static size_t size_B(const struct product *p) { return (size_t)p->k * (size_t)p->n; }
static size_t size_C(const struct product *p) { return (size_t)p->m * (size_t)p->n; }

/* The verdict as it grows on the device. `first` holds the smallest index so far, or SIZE_MAX. */
struct tally {
    unsigned long long wrong, unwritten, measured;
    unsigned long long first_wrong, first_unwritten;
    unsigned long long worst; /* the bits of the largest error; for numbers >= 0 they order alike */
    double squares;
};

size_t product_bytes(int m, int n, int k) {
    size_t inputs = (size_t)m * (size_t)k + (size_t)k * (size_t)n, C = (size_t)m * (size_t)n;
    return inputs * (sizeof(float) + sizeof(double)) + C * 2 * sizeof(double) + workspace_bytes;
}

template <class T> static bool allocate(T **pointer, size_t count) {
    return right(cudaMalloc((void **)pointer, count * sizeof(T)), "device memory");
}

struct product *product_new(int m, int n, int k) {
    struct product *p = (struct product *)calloc(1, sizeof *p);
    if (!p) {
        snprintf(reason, sizeof reason, "out of memory");
        return NULL;
    }
    p->m = m;
    p->n = n;
    p->k = k;
    if (allocate(&p->A, size_A(p)) && allocate(&p->B, size_B(p)) &&
        allocate(&p->wide_A, size_A(p)) && allocate(&p->wide_B, size_B(p)) &&
        allocate(&p->ref, size_C(p)) && allocate(&p->G, size_C(p)) && allocate(&p->tally, 1) &&
        allocate((char **)&p->workspace, workspace_bytes) &&
        right(cublasCreate(&p->wide), "cublasCreate") &&
        right(cublasCreate(&p->cublas), "cublasCreate"))
        return p;
    product_free(p);
    return NULL;
}

void product_free(struct product *p) {
    if (!p) return;
    if (p->wide) cublasDestroy(p->wide);
    if (p->cublas) cublasDestroy(p->cublas);
    void *memory[] = {p->A, p->B, p->wide_A, p->wide_B, p->ref, p->G, p->tally, p->workspace};
    for (void *block : memory) cudaFree(block);
    free(p);
}

const float *product_A(const struct product *p) { return p->A; }
const float *product_B(const struct product *p) { return p->B; }

/* ---- what is computed ------------------------------------------------------------------------ */

/* cuBLAS counts by columns: what it takes for B^T A^T = (AB)^T is, by rows, AB. */
static bool multiply_wide(struct product *p, double *out) {
    const double one = 1, zero = 0;
    return right(cublasDgemm(p->wide, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m, p->k, &one, p->wide_B,
                             p->n, p->wide_A, p->k, &zero, out, p->n),
                 "cublasDgemm");
}

bool product_fill(struct product *p, uint64_t seed) {
    uint64_t key = mix64(seed);
    fill<<<blocks(size_A(p)), threads>>>(p->A, p->wide_A, size_A(p), random64(key, 0));
    fill<<<blocks(size_B(p)), threads>>>(p->B, p->wide_B, size_B(p), random64(key, 1));
    if (!multiply_wide(p, p->ref)) return false;
    magnitudes<<<blocks(size_A(p)), threads>>>(p->wide_A, size_A(p));
    magnitudes<<<blocks(size_B(p)), threads>>>(p->wide_B, size_B(p));
    return multiply_wide(p, p->G) && finished("the product in double precision");
}

bool product_poison(const struct product *p, float *C, cudaStream_t stream) {
    poison<<<blocks(size_C(p)), threads, 0, stream>>>((uint32_t *)C, size_C(p), poison_bits);
    return right(cudaGetLastError(), "filling C");
}

/* cublasSetStream() also takes the work space away. */
static bool choose_stream(struct product *p, cudaStream_t stream) {
    if (p->stream_set && p->stream == stream) return true;
    p->stream = stream;
    p->stream_set =
        right(cublasSetStream(p->cublas, stream), "cublasSetStream") &&
        right(cublasSetWorkspace(p->cublas, p->workspace, workspace_bytes), "cublasSetWorkspace");
    return p->stream_set;
}

bool product_cublas(struct product *p, float *C, cudaStream_t stream) {
    const float one = 1, zero = 0;
    return choose_stream(p, stream) &&
           right(cublasGemmEx(p->cublas, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m, p->k, &one, p->B,
                              CUDA_R_32F, p->n, p->A, CUDA_R_32F, p->k, &zero, C, CUDA_R_32F, p->n,
                              CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT),
                 "cublasGemmEx");
}

/* ---- the verdict ----------------------------------------------------------------------------- */

/* What one thread has seen, or several together. */
struct seen {
    unsigned wrong, unwritten, measured;
    unsigned long long first_wrong, first_unwritten;
    double worst, squares;
};

static __device__ void look(struct seen *seen, float got, double ref, double G, double gamma,
                            uint32_t unwritten_bits, unsigned long long index) {
    double error = fabs(got - ref);
    if (__float_as_uint(got) == unwritten_bits) {
        ++seen->unwritten;
        seen->first_unwritten = min(seen->first_unwritten, index);
        return;
    }
    if (!(error <= gamma * G)) { /* not so for NaN */
        ++seen->wrong;
        seen->first_wrong = min(seen->first_wrong, index);
    }
    if (!isfinite(error) || !(G > 0)) return;
    ++seen->measured;
    seen->worst = fmax(seen->worst, error / G);
    seen->squares += error / G * (error / G);
}

/* Over the warp; thread 0 has it all. */
static __device__ void gather(struct seen *seen) {
    const unsigned all = 0xffffffffu;
    for (int distance = 16; distance > 0; distance /= 2) {
        seen->wrong += __shfl_down_sync(all, seen->wrong, distance);
        seen->unwritten += __shfl_down_sync(all, seen->unwritten, distance);
        seen->measured += __shfl_down_sync(all, seen->measured, distance);
        seen->squares += __shfl_down_sync(all, seen->squares, distance);
        seen->worst = fmax(seen->worst, __shfl_down_sync(all, seen->worst, distance));
        seen->first_wrong =
            min(seen->first_wrong, __shfl_down_sync(all, seen->first_wrong, distance));
        seen->first_unwritten =
            min(seen->first_unwritten, __shfl_down_sync(all, seen->first_unwritten, distance));
    }
}

static __global__ void compare(const float *C, const double *ref, const double *G, size_t elements,
                               double gamma, uint32_t unwritten_bits, struct tally *tally) {
    struct seen seen = {0, 0, 0, ~0ull, ~0ull, 0, 0};
    for (size_t i = first_index(); i < elements; i += all_threads())
        look(&seen, C[i], ref[i], G[i], gamma, unwritten_bits, i);
    gather(&seen);
    if (threadIdx.x % 32 != 0) return;
    atomicAdd(&tally->wrong, (unsigned long long)seen.wrong);
    atomicAdd(&tally->unwritten, (unsigned long long)seen.unwritten);
    atomicAdd(&tally->measured, (unsigned long long)seen.measured);
    atomicAdd(&tally->squares, seen.squares);
    atomicMax(&tally->worst, (unsigned long long)__double_as_longlong(seen.worst));
    atomicMin(&tally->first_wrong, seen.first_wrong);
    atomicMin(&tally->first_unwritten, seen.first_unwritten);
}

/* gamma_bound(k + 2) of support.h. */
static double gamma_of(int k) {
    double nu = ((double)k + 2) * unit_roundoff;
    return nu < 1 ? nu / (1 - nu) : INFINITY;
}

static double worst_of(const struct tally *tally) {
    double worst;
    static_assert(sizeof worst == sizeof tally->worst, "its bits");
    memcpy(&worst, &tally->worst, sizeof worst);
    return worst;
}

/* The element that the first line about a wrong C is on. */
static bool describe(const struct product *p, const float *C, const struct tally *tally,
                     struct product_verdict *verdict) {
    unsigned long long index = tally->wrong ? tally->first_wrong : tally->first_unwritten;
    verdict->row = verdict->col = -1;
    if (!tally->wrong && !tally->unwritten) return true;
    verdict->row = (int)(index / (unsigned)p->n);
    verdict->col = (int)(index % (unsigned)p->n);
    return right(cudaMemcpy(&verdict->got, C + index, sizeof(float), cudaMemcpyDeviceToHost),
                 "reading C") &&
           right(cudaMemcpy(&verdict->expected, p->ref + index, sizeof(double),
                            cudaMemcpyDeviceToHost),
                 "reading the product");
}

bool product_verdict(struct product *p, const float *C, struct product_verdict *verdict) {
    struct tally tally = {0, 0, 0, ~0ull, ~0ull, 0, 0};
    *verdict = (struct product_verdict){};
    if (!finished("before the comparison") ||
        !right(cudaMemcpy(p->tally, &tally, sizeof tally, cudaMemcpyHostToDevice), "comparison"))
        return false;
    compare<<<blocks(size_C(p)), threads>>>(C, p->ref, p->G, size_C(p), gamma_of(p->k), poison_bits,
                                            p->tally);
    if (!finished("comparison") ||
        !right(cudaMemcpy(&tally, p->tally, sizeof tally, cudaMemcpyDeviceToHost), "comparison"))
        return false;
    verdict->wrong = tally.wrong;
    verdict->unwritten = tally.unwritten;
    verdict->max_u = worst_of(&tally) / unit_roundoff;
    if (tally.measured)
        verdict->rms_u = sqrt(tally.squares / (double)tally.measured) / unit_roundoff;
    verdict->not_float32 = !tally.wrong && !tally.unwritten &&
                           !(verdict->max_u <= float32_max_u && verdict->rms_u <= float32_rms_u);
    return describe(p, C, &tally, verdict);
}

bool verdict_passed(const struct product_verdict *verdict) {
    return !verdict->wrong && !verdict->unwritten && !verdict->not_float32;
}
