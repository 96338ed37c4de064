/* RIGHT: A is copied to rows of a pitch, and much of CUDA's runtime is called on the way. A
 * __device__ variable is filled from device memory, where a kernel has prepared it. A kernel that
 * is said to be hot is in another section of the program. */

#include <stdio.h>
#include <vector>

#define TILE 16
#define CHECK(call)                                                                                \
    if ((call) != cudaSuccess)                                                                     \
    printf("line %d: %s\n", __LINE__, cudaGetErrorString(cudaPeekAtLastError()))

struct Sides {
    int width, height;
};
__constant__ float factors[2] = {0.0f, 0.0f};
__device__ Sides tile;

__global__ void prepare(Sides *prepared, int width) {
    if (threadIdx.x == 0) *prepared = {width, TILE};
}

__attribute__((hot)) __global__ void mysgemm(int m, int n, int k, const float *A, int pitch,
                                             const float *B, float *C, Sides whole,
                                             const float *start) {
    extern __shared__ float shared[];
    float *a = shared, *b = shared + tile.width * tile.height;
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = start[threadIdx.y];
    for (int p0 = 0; p0 < k; p0 += whole.width) {
        int ka = p0 + threadIdx.x, kb = p0 + threadIdx.y;
        a[threadIdx.y * TILE + threadIdx.x] = row < m && ka < k ? A[row * pitch + ka] : 0.0f;
        b[threadIdx.y * TILE + threadIdx.x] = kb < k && col < n ? B[kb * n + col] : 0.0f;
        __syncthreads();
        for (int p = 0; p < TILE; ++p) sum += a[threadIdx.y * TILE + p] * b[p * TILE + threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = sum * factors[1];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    static int devices, device = 7, blocks, version;
    static size_t pitch, free_bytes, all_bytes;
    static float milliseconds = -1.0f;
    const size_t shared = 2 * TILE * TILE * sizeof(float);
    float *rows, *start;
    Sides *prepared;
    int grid = 0, block = 0;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaFuncAttributes attributes;
    std::vector<float> zeros(2 * TILE, 0.0f), one(1, 1.0f);

    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaSetDevice(devices - 1));
    CHECK(cudaGetDevice(&device));
    CHECK(cudaRuntimeGetVersion(&version));
    CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaMallocPitch((void **)&rows, &pitch, k * sizeof(float), m));
    CHECK(cudaMemset2D(rows, pitch, 0, k * sizeof(float), m));
    CHECK(cudaMemcpy2D(rows, pitch, A, k * sizeof(float), k * sizeof(float), m,
                       cudaMemcpyDeviceToDevice));
    CHECK(cudaMalloc((void **)&start, TILE * sizeof(float)));
    CHECK(cudaMemset(start, 255, TILE * sizeof(float)));
    CHECK(cudaMemcpy2D(start, sizeof(float), zeros.data(), 2 * sizeof(float), sizeof(float), TILE,
                       cudaMemcpyHostToDevice));
    CHECK(cudaMemcpyAsync(start, start + TILE / 2, 4, cudaMemcpyDefault, stream));
    CHECK(cudaMemcpy(&zeros[1], &zeros[0], 4, cudaMemcpyHostToHost));
    CHECK(cudaMemcpyToSymbol(factors, one.data(), sizeof(float), sizeof(float)));
    CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, prepare, 0, 32));
    CHECK(cudaMallocAsync(&prepared, sizeof *prepared, stream));
    prepare<<<1, block, 0, stream>>>(prepared, TILE);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpyToSymbol(tile, prepared, sizeof *prepared, 0, cudaMemcpyDeviceToDevice));
    CHECK(cudaFreeAsync(prepared, stream));
    CHECK(cudaFuncSetAttribute(mysgemm, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10));
    CHECK(cudaFuncGetAttributes(&attributes, mysgemm));
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, mysgemm, TILE * TILE, shared));
    CHECK(cudaEventRecord(begin, stream));
    if (devices == 1 && device == 0 && blocks > 0 &&
        attributes.maxDynamicSharedSizeBytes == 64 << 10)
        mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(TILE, TILE), 63 << 10, stream>>>(
            m, n, k, rows, pitch / sizeof(float), B, C, Sides{TILE, TILE}, start);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    printf("%.3f ms\n", milliseconds);
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(rows));
    CHECK(cudaFree(start));
    CHECK(cudaDeviceSynchronize());
}
