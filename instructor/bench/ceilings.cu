/* ceilings.cu: what this GPU is, and what it can do at most, measured: what no kernel gets past.
 *
 *     build/bench/ceilings      one JSON object: "machine" and "ceilings", as in ladder.py
 *
 * Each ceiling is the best of a few runs, as anything that disturbs one only takes away from it.
 * Exit status: 0; 3 the machine is at fault, and standard error says why. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

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

static void must(cudaError_t error) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "measuring what the GPU can do: %s (%s)\n", cudaGetErrorString(error),
            cudaGetErrorName(error));
    exit(3);
}

static __global__ void ffma(float x, float y, float *out) {
    float sum[CHAINS];
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
    if (all == 0.123f) *out = all; /* without a use of the sums the compiler would drop them */
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

/* Seconds of the fastest of a few runs. */
template <class Launch> static double best_of(Launch launch) {
    cudaEvent_t begin, end;
    float best = INFINITY;
    must(cudaEventCreate(&begin));
    must(cudaEventCreate(&end));
    for (int i = 0; i < RUNS; ++i) {
        float milliseconds;
        must(cudaEventRecord(begin));
        launch();
        must(cudaGetLastError());
        must(cudaEventRecord(end));
        must(cudaEventSynchronize(end));
        must(cudaEventElapsedTime(&milliseconds, begin, end));
        best = fminf(best, milliseconds);
    }
    return 1e-3 * best;
}

static double bytes_per_second(int blocks, const float4 *data, size_t bytes, int passes,
                               float *out) {
    const size_t count = bytes / sizeof *data;
    return (double)bytes * passes /
           best_of([=] { read<<<blocks, THREADS>>>(data, count, passes, out); });
}

static void print_ceilings(const cudaDeviceProp *about) {
    const int blocks = about->multiProcessorCount * BLOCKS_PER_SM;
    const double operations = 2.0 * blocks * THREADS * CHAINS * UNROLLED * FFMA_ROUNDS;
    float4 *data;
    float *out;
    must(cudaMalloc(&data, memory_bytes));
    must(cudaMalloc(&out, sizeof *out));
    must(cudaMemset(data, 0x3c, memory_bytes));
    printf(" \"ceilings\": {\"ffma_flops\": %.6g,",
           operations / best_of([=] { ffma<<<blocks, THREADS>>>(-0.999f, 0.7f, out); }));
    printf(" \"memory_bytes_per_second\": %.6g,",
           bytes_per_second(blocks, data, memory_bytes, 1, out));
    /* A quarter of the L2: where it has two halves, each may keep a copy of its own. */
    printf(" \"l2_bytes_per_second\": %.6g}}\n",
           bytes_per_second(blocks, data, (size_t)about->l2CacheSize / 4, L2_PASSES, out));
}

/* 13000 is 13.0. */
static void print_version(const char *what, int version) {
    printf(" \"%s\": \"%d.%d\",", what, version / 1000, version % 1000 / 10);
}

static void print_machine(const cudaDeviceProp *about) {
    int driver, runtime, kilohertz, blas[3];
    must(cudaDriverGetVersion(&driver));
    must(cudaRuntimeGetVersion(&runtime));
    must(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, 0));
    for (int i = 0; i < 3; ++i) cublasGetProperty((libraryPropertyType)i, &blas[i]);
    printf("{\"machine\": {\"device\": \"%s\", \"multiprocessors\": \"%d\",", about->name,
           about->multiProcessorCount);
    printf(" \"memory_bytes\": \"%zu\", \"l2_bytes\": \"%d\", \"boost_mhz\": \"%d\",",
           about->totalGlobalMem, about->l2CacheSize, kilohertz / 1000);
    print_version("cuda_of_driver", driver);
    print_version("cuda_runtime", runtime);
    printf(" \"nvcc\": \"%d.%d.%d\",", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__,
           __CUDACC_VER_BUILD__);
    printf(" \"cublas\": \"%d.%d.%d\"},", blas[0], blas[1], blas[2]);
}

int main(void) {
    cudaDeviceProp about;
    must(cudaGetDeviceProperties(&about, 0));
    print_machine(&about);
    print_ceilings(&about);
    return 0;
}
