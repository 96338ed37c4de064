/* product.cu: see product.h. */
extern "C" {
#include "../../engine/report/poison.h"
#include "product.h"
}
#include "../../lab/verify.h"

#include <cublas_v2.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What cuBLAS's documentation asks for on Hopper and newer; 4 MiB would do before. With a work
 * space of ours no timed call allocates one. */
static const size_t workspace_bytes = (size_t)32 << 20;

static const int threads = 256;
static const size_t most_blocks = 2048; /* enough to fill any GPU; threads take several elements */

/* What a comparison found, by one thread or by all of them. */
struct tally {
    unsigned long long wrong, unwritten, measured;
    unsigned long long first_wrong, first_unwritten; /* indices; ~0: none */
    unsigned long long worst; /* the bits of the largest error; for numbers >= 0 they order alike */
    double squares;
};

struct product {
    int m, n, k;
    float *A, *B;
    double *wide_A, *wide_B; /* the same numbers in double precision */
    double *ref, *G;         /* AB and |A||B| */
    struct tally *tally;     /* on the device */
    void *workspace;
    cublasHandle_t wide, cublas; /* for the products in double precision, for product_cublas() */
};

/* ---- failures -------------------------------------------------------------------------------- */

static bool right(cudaError_t error, const char *what, struct judgement *j) {
    if (error == cudaSuccess) return true;
    cudaGetLastError(); /* or the next kernel's launch would report it as its own */
    return judge(j, STATE_MACHINE, "%s: %s", what, cudaGetErrorString(error));
}

static bool right(cublasStatus_t status, const char *what, struct judgement *j) {
    return status == CUBLAS_STATUS_SUCCESS ||
           judge(j, STATE_MACHINE, "%s: %s", what, cublasGetStatusString(status));
}

static bool finished(const char *what, struct judgement *j) {
    return right(cudaGetLastError(), what, j) && right(cudaDeviceSynchronize(), what, j);
}

static int blocks(size_t elements) {
    size_t count = (elements + threads - 1) / threads;
    return (int)(count < most_blocks ? count : most_blocks);
}

/* ---- A and B --------------------------------------------------------------------------------- */

/* splitmix64, started at a key: mix64() and random64() of engine/report/text/numbers.h, which is C
 * only.
 */
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

static __global__ void poison(uint32_t *values, size_t elements) {
    for (size_t i = first_index(); i < elements; i += all_threads()) values[i] = POISON_BITS;
}

/* ---- making and ending one ------------------------------------------------------------------- */

static size_t size_A(const struct product *p) { return (size_t)p->m * (size_t)p->k; }
static size_t size_B(const struct product *p) { return (size_t)p->k * (size_t)p->n; }
static size_t size_C(const struct product *p) { return (size_t)p->m * (size_t)p->n; }

template <class T> static bool allocate(T **pointer, size_t count, struct judgement *j) {
    return right(cudaMalloc((void **)pointer, count * sizeof(T)), "device memory", j);
}

static bool set_up(struct product *p, struct judgement *j) {
    return allocate(&p->A, size_A(p), j) && allocate(&p->B, size_B(p), j) &&
           allocate(&p->wide_A, size_A(p), j) && allocate(&p->wide_B, size_B(p), j) &&
           allocate(&p->ref, size_C(p), j) && allocate(&p->G, size_C(p), j) &&
           allocate(&p->tally, 1, j) && allocate((char **)&p->workspace, workspace_bytes, j) &&
           right(cublasCreate(&p->wide), "cublasCreate", j) &&
           right(cublasCreate(&p->cublas), "cublasCreate", j) &&
           right(cublasSetWorkspace(p->cublas, p->workspace, workspace_bytes), "cublasSetWorkspace",
                 j);
}

struct product *product_new(int m, int n, int k, struct judgement *j) {
    struct product *p = (struct product *)calloc(1, sizeof *p);
    if (!p) {
        judge(j, STATE_MACHINE, "out of memory");
        return NULL;
    }
    p->m = m;
    p->n = n;
    p->k = k;
    return set_up(p, j) ? p : NULL;
}

void product_free(struct product *p) {
    if (!p) return;
    void *const memory[] = {p->A, p->B, p->wide_A, p->wide_B, p->ref, p->G, p->tally, p->workspace};
    cudaDeviceSynchronize();
    cublasDestroy(p->wide);
    cublasDestroy(p->cublas);
    for (void *piece : memory) cudaFree(piece);
    free(p);
}

const float *product_A(const struct product *p) { return p->A; }
const float *product_B(const struct product *p) { return p->B; }

/* ---- what is computed ------------------------------------------------------------------------ */

/* cuBLAS counts by columns: what it takes for B^T A^T = (AB)^T is, by rows, AB. */
static bool multiply_wide(struct product *p, double *out, struct judgement *j) {
    const double one = 1, zero = 0;
    return right(cublasDgemm(p->wide, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m, p->k, &one, p->wide_B,
                             p->n, p->wide_A, p->k, &zero, out, p->n),
                 "cublasDgemm", j);
}

bool product_fill(struct product *p, uint64_t seed, struct judgement *j) {
    uint64_t key = mix64(seed);
    fill<<<blocks(size_A(p)), threads>>>(p->A, p->wide_A, size_A(p), random64(key, 0));
    fill<<<blocks(size_B(p)), threads>>>(p->B, p->wide_B, size_B(p), random64(key, 1));
    if (!multiply_wide(p, p->ref, j)) return false;
    magnitudes<<<blocks(size_A(p)), threads>>>(p->wide_A, size_A(p));
    magnitudes<<<blocks(size_B(p)), threads>>>(p->wide_B, size_B(p));
    return multiply_wide(p, p->G, j) && finished("the product in double precision", j);
}

bool product_poison(const struct product *p, float *C, struct judgement *j) {
    poison<<<blocks(size_C(p)), threads>>>((uint32_t *)C, size_C(p));
    return right(cudaGetLastError(), "filling C", j);
}

bool product_cublas(struct product *p, float *C, struct judgement *j) {
    const float one = 1, zero = 0;
    return right(cublasGemmEx(p->cublas, CUBLAS_OP_N, CUBLAS_OP_N, p->n, p->m, p->k, &one, p->B,
                              CUDA_R_32F, p->n, p->A, CUDA_R_32F, p->k, &zero, C, CUDA_R_32F, p->n,
                              CUBLAS_COMPUTE_32F_PEDANTIC, CUBLAS_GEMM_DEFAULT),
                 "cublasGemmEx", j);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static __device__ void look(struct tally *tally, float got, double ref, double G, double gamma,
                            unsigned long long index) {
    const double error = fabs(got - ref);
    if (__float_as_uint(got) == POISON_BITS) {
        ++tally->unwritten;
        tally->first_unwritten = min(tally->first_unwritten, index);
        return;
    }
    if (!(error <= gamma * G)) { /* not so for NaN */
        ++tally->wrong;
        tally->first_wrong = min(tally->first_wrong, index);
    }
    if (!isfinite(error) || !(G > 0)) return;
    ++tally->measured;
    tally->worst = max(tally->worst, (unsigned long long)__double_as_longlong(error / G));
    tally->squares += error / G * (error / G);
}

static __global__ void compare(const float *C, const double *ref, const double *G, size_t elements,
                               double gamma, struct tally *all) {
    struct tally own = {0, 0, 0, ~0ull, ~0ull, 0, 0};
    for (size_t i = first_index(); i < elements; i += all_threads())
        look(&own, C[i], ref[i], G[i], gamma, i);
    atomicAdd(&all->measured, own.measured);
    atomicAdd(&all->squares, own.squares);
    atomicMax(&all->worst, own.worst);
    if (own.wrong == 0 && own.unwritten == 0) return;
    atomicAdd(&all->wrong, own.wrong);
    atomicAdd(&all->unwritten, own.unwritten);
    atomicMin(&all->first_wrong, own.first_wrong);
    atomicMin(&all->first_unwritten, own.first_unwritten);
}

static double worst_of(const struct tally *tally) {
    double worst;
    static_assert(sizeof worst == sizeof tally->worst, "its bits");
    memcpy(&worst, &tally->worst, sizeof worst);
    return worst;
}

/* The element that the first line about a wrong C is on. */
static bool describe(const struct product *p, const float *C, const struct tally *tally,
                     struct product_verdict *verdict, struct judgement *j) {
    unsigned long long index = tally->wrong ? tally->first_wrong : tally->first_unwritten;
    verdict->row = verdict->col = -1;
    if (!tally->wrong && !tally->unwritten) return true;
    verdict->row = (int)(index / (unsigned)p->n);
    verdict->col = (int)(index % (unsigned)p->n);
    return right(cudaMemcpy(&verdict->got, C + index, sizeof(float), cudaMemcpyDeviceToHost),
                 "reading C", j) &&
           right(cudaMemcpy(&verdict->expected, p->ref + index, sizeof(double),
                            cudaMemcpyDeviceToHost),
                 "reading the product", j);
}

bool product_verdict(struct product *p, const float *C, struct product_verdict *verdict,
                     struct judgement *j) {
    struct tally tally = {0, 0, 0, ~0ull, ~0ull, 0, 0};
    *verdict = (struct product_verdict){};
    if (!finished("before the comparison", j) ||
        !right(cudaMemcpy(p->tally, &tally, sizeof tally, cudaMemcpyHostToDevice), "comparison", j))
        return false;
    compare<<<blocks(size_C(p)), threads>>>(C, p->ref, p->G, size_C(p),
                                            gamma_bound((int64_t)p->k + 2), p->tally);
    if (!finished("comparison", j) ||
        !right(cudaMemcpy(&tally, p->tally, sizeof tally, cudaMemcpyDeviceToHost), "comparison", j))
        return false;
    verdict->wrong = tally.wrong;
    verdict->unwritten = tally.unwritten;
    verdict->max_u = worst_of(&tally) / UNIT_ROUNDOFF;
    if (tally.measured)
        verdict->rms_u = sqrt(tally.squares / (double)tally.measured) / UNIT_ROUNDOFF;
    verdict->not_float32 = !tally.wrong && !tally.unwritten &&
                           !(verdict->max_u <= FLOAT32_MAX_U && verdict->rms_u <= FLOAT32_RMS_U);
    return describe(p, C, &tally, verdict, j);
}

bool verdict_passed(const struct product_verdict *verdict) {
    return !verdict->wrong && !verdict->unwritten && !verdict->not_float32;
}
