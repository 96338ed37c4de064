/* ceilings.cu: see ceilings.h. Each figure is the best of a few runs: of a ceiling the highest is
 * wanted, and anything that disturbs only takes away from it. */
#include "ceilings.h"

#include <cuda_runtime.h>
#include <stdio.h>

enum {
    RUNS = 7,
    THREADS = 256,
    BLOCKS_PER_SM = 8, /* 2048 threads, as many as a multiprocessor holds */
    CHAINS = 16,       /* independent sums a thread; an FFMA takes 4 cycles */
    UNROLLED = 8,
    FFMA_ROUNDS = 8192, /* some 10 ms */
    L2_PASSES = 64,
};

static const size_t memory_bytes = (size_t)1 << 30;

static char reason[200];

const char *ceilings_error(void) { return reason; }

static bool right(cudaError_t error) {
    if (error == cudaSuccess) return true;
    snprintf(reason, sizeof reason, "measuring what the GPU can do: %s (%s)",
             cudaGetErrorString(error), cudaGetErrorName(error));
    return false;
}

static __global__ void ffma(float x, float y, float *out, long long *cycles) {
    float sum[CHAINS];
    long long begun = clock64();
    for (int i = 0; i < CHAINS; ++i) sum[i] = (float)(threadIdx.x + i);
    for (int round = 0; round < FFMA_ROUNDS; ++round) {
#pragma unroll
        for (int again = 0; again < UNROLLED; ++again) {
#pragma unroll
            for (int i = 0; i < CHAINS; ++i) sum[i] = fmaf(sum[i], x, y);
        }
    }
    float all = 0;
    for (int i = 0; i < CHAINS; ++i) all += sum[i];
    if (all == 0.123f) *out = all;        /* or it would all be for nothing, and left out */
    atomicMax(cycles, clock64() - begun); /* of the last warp to be done: of the whole grid */
}

/* Past the level-1 cache in each case (ld.global.cg). */
static __global__ void read(const float4 *data, size_t count, int passes, float *out) {
    size_t stride = (size_t)gridDim.x * blockDim.x;
    float all = 0;
    for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 8
        for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
            float4 four = __ldcg(data + i);
            all += four.x + four.y + four.z + four.w;
        }
    }
    if (all == 0.123f) *out = all;
}

/* What the measurements share. */
struct bench {
    cudaEvent_t begin, end;
    int blocks, l2_bytes;
    char *data;
    float *out;
    long long *cycles;
};

static bool bench_new(struct bench *b) {
    int device, multiprocessors;
    if (!right(cudaGetDevice(&device)) ||
        !right(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device)) ||
        !right(cudaDeviceGetAttribute(&b->l2_bytes, cudaDevAttrL2CacheSize, device)))
        return false;
    b->blocks = multiprocessors * BLOCKS_PER_SM;
    return right(cudaEventCreate(&b->begin)) && right(cudaEventCreate(&b->end)) &&
           right(cudaMalloc(&b->data, memory_bytes)) && right(cudaMalloc(&b->out, sizeof(float))) &&
           right(cudaMalloc(&b->cycles, sizeof(long long))) &&
           right(cudaMemset(b->data, 0x3c, memory_bytes));
}

static void bench_free(struct bench *b) {
    cudaFree(b->data);
    cudaFree(b->out);
    cudaFree(b->cycles);
    if (b->begin) cudaEventDestroy(b->begin);
    if (b->end) cudaEventDestroy(b->end);
}

/* Seconds of the fastest run. */
template <class Launch>
static bool best_of(struct bench *b, int runs, double *best, Launch launch) {
    *best = 1e30;
    for (int i = 0; i < runs; ++i) {
        float milliseconds;
        if (!right(cudaEventRecord(b->begin))) return false;
        launch();
        if (!right(cudaGetLastError()) || !right(cudaEventRecord(b->end)) ||
            !right(cudaEventSynchronize(b->end)) ||
            !right(cudaEventElapsedTime(&milliseconds, b->begin, b->end)))
            return false;
        if (1e-3 * milliseconds < *best) *best = 1e-3 * milliseconds;
    }
    return true;
}

static bool measure_ffma(struct bench *b, struct ceilings *ceilings) {
    double seconds;
    auto launch = [=] { ffma<<<b->blocks, THREADS>>>(-0.999f, 0.7f, b->out, b->cycles); };
    if (!best_of(b, RUNS, &seconds, launch)) return false;
    ceilings->ffma_flops = 2.0 * b->blocks * THREADS * CHAINS * UNROLLED * FFMA_ROUNDS / seconds;
    return true;
}

/* By one run of the same kernel, of which all blocks run from the beginning to the end. */
static bool measure_clock(struct bench *b, struct ceilings *ceilings) {
    double seconds;
    long long cycles;
    auto launch = [=] { ffma<<<b->blocks, THREADS>>>(-0.999f, 0.7f, b->out, b->cycles); };
    if (!right(cudaMemset(b->cycles, 0, sizeof cycles)) || !best_of(b, 1, &seconds, launch) ||
        !right(cudaMemcpy(&cycles, b->cycles, sizeof cycles, cudaMemcpyDeviceToHost)))
        return false;
    ceilings->mhz = 1e-6 * (double)cycles / seconds;
    return true;
}

static bool measure_read(struct bench *b, size_t bytes, int passes, double *bytes_per_second) {
    double seconds;
    const float4 *data = (const float4 *)b->data;
    if (!best_of(b, RUNS, &seconds,
                 [=] { read<<<b->blocks, THREADS>>>(data, bytes / sizeof *data, passes, b->out); }))
        return false;
    *bytes_per_second = (double)bytes * passes / seconds;
    return true;
}

bool ceilings_measure(struct ceilings *ceilings) {
    struct bench b = {};
    /* A quarter of the L2: where it has two halves, each may keep a copy of its own. */
    bool done = bench_new(&b) && measure_ffma(&b, ceilings) && measure_clock(&b, ceilings) &&
                measure_read(&b, memory_bytes, 1, &ceilings->memory_bytes) &&
                measure_read(&b, (size_t)b.l2_bytes / 4, L2_PASSES, &ceilings->l2_bytes);
    bench_free(&b);
    return done;
}
