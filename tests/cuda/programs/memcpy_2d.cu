/* cudaMallocPitch, and copies and sets of rows with padding between them, which these leave alone;
 * at once and on a stream, with memory that comes and goes on the stream. And sizes, pitches and
 * heights that lead outside an allocation, or past the end of all addresses: an error, and nothing
 * is written. */
#include "check.h"

enum { ROWS = 7, COLS = 13, WIDE = 32 };
const size_t WIDTH = COLS * sizeof(float);
static float in[ROWS][COLS], out[ROWS][WIDE];

__global__ void twice(float *data, size_t pitch, int rows, int cols) {
    int row = threadIdx.y, col = threadIdx.x;
    if (row < rows && col < cols) ((float *)((char *)data + row * pitch))[col] *= 2;
}

static void expect_twice() {
    for (int row = 0; row < ROWS; ++row)
        for (int col = 0; col < WIDE; ++col)
            EXPECT(out[row][col], col < COLS ? 2.0f * (row * COLS + col) : 0.0f);
}

static void at_once() {
    float *d;
    size_t pitch = 0;
    OK(cudaMallocPitch(&d, &pitch, WIDTH, ROWS));
    CHECK(pitch >= WIDTH && pitch % 32 == 0);
    OK(cudaMemcpy2D(d, pitch, in, WIDTH, WIDTH, ROWS, cudaMemcpyHostToDevice));
    twice<<<1, dim3(16, 8)>>>(d, pitch, ROWS, COLS);
    OK(cudaMemcpy2D(out, sizeof out[0], d, pitch, WIDTH, ROWS, cudaMemcpyDeviceToHost));
    expect_twice();

    EXPECT(cudaMemcpy2D(d, pitch, in, WIDTH - 4, WIDTH, ROWS, cudaMemcpyHostToDevice),
           cudaErrorInvalidPitchValue);
    FAILS(cudaMemcpy2D(d, WIDTH - 4, in, WIDTH, WIDTH, ROWS, cudaMemcpyHostToDevice),
          cudaErrorInvalidPitchValue);
    OK(cudaMemcpy2D(d, pitch, in, WIDTH, 0, ROWS, cudaMemcpyHostToDevice));

    unsigned h[64];
    OK(cudaMemset(d, 0, sizeof h));
    OK(cudaMemset2D(d, 32, 1, 20, 4));
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 4; ++i) {
        EXPECT(h[i * 8 + 4], 0x01010101u);
        EXPECT(h[i * 8 + 5], 0u);
    }
    EXPECT(h[32], 0u);
    OK(cudaFree(d));
}

static void on_a_stream() {
    const size_t pitch = sizeof out[0];
    float *d;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    OK(cudaMallocAsync(&d, ROWS * pitch, stream));
    OK(cudaMemset2DAsync(d, pitch, 0, pitch, ROWS, stream));
    OK(cudaMemcpy2DAsync(d, pitch, in, WIDTH, WIDTH, ROWS, cudaMemcpyHostToDevice, stream));
    twice<<<1, dim3(16, 8), 0, stream>>>(d, pitch, ROWS, COLS);
    OK(cudaMemcpy2DAsync(out, pitch, d, pitch, pitch, ROWS, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    expect_twice();

    OK(cudaMemset2DAsync(d, pitch, 0xFF, 4, 2)); /* the default stream */
    OK(cudaMemcpy2DAsync(out, pitch, d, pitch, 8, 3, cudaMemcpyDeviceToHost));
    RUN();
    CHECK(out[0][0] != out[0][0] && out[1][0] != out[1][0]);
    EXPECT(out[2][0], 2.0f * 2 * COLS);
    EXPECT(out[0][1], 2.0f);
    OK(cudaFreeAsync(d, stream));
    OK(cudaStreamDestroy(stream));
}

static void rows() {
    for (int i = 0; i < ROWS * COLS; ++i) in[i / COLS][i % COLS] = i;
    at_once();
    memset(out, 0xFF, sizeof out);
    on_a_stream();
}

enum { FEW = 4, STRIDE = 512, BYTES = FEW * STRIDE };
static char *d, *other, host[BYTES];

static void expect_untouched() {
    OK(cudaMemcpy(host, d, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BYTES; ++i) EXPECT((int)host[i], 1);
}

static void refused_extents() {
    const size_t half = (size_t)1 << 63, gap = 64 << 20;
    OK(cudaMalloc(&d, BYTES));
    OK(cudaMalloc(&other, BYTES));
    OK(cudaMemset(d, 1, BYTES));
    OK(cudaMemset(other, 2, BYTES));
    memset(host, 3, sizeof host);

    const cudaMemcpyKind in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;
    const cudaError_t errors[] = {
        cudaMemset2D(d + BYTES / 2, STRIDE, 0, STRIDE, 3),
        cudaMemset2D(d, gap, 0, 16, 2),
        cudaMemset2D(d, 8, 0, 16, 2),
        cudaMemset(d, 0, BYTES + 1),
        cudaMemset(d + BYTES - 1, 0, 2),
        cudaMemcpy2D(d, STRIDE, host, STRIDE, 16, FEW + 1, in),
        cudaMemcpy2D(host, 16, d, STRIDE, 16, FEW + 1, out),
        cudaMemcpy2D(host, 16, d + 1, STRIDE, STRIDE, FEW, out),
        cudaMemcpy(d + 1, host, BYTES, in),
#ifdef CUDA_EMULATOR
        /* A GPU takes some of these, and of others it does not return (CUDA 13.0, H100). */
        cudaMemset2D(d, half, 0, 16, 3),            /* 2 * half is 0 */
        cudaMemset2D(d, (size_t)-STRIDE, 0, 16, 2), /* backwards */
        cudaMemset2D(d, STRIDE, 0, 16, half),
        cudaMemcpy2D(d, half, host, 16, 16, 3, in),
        cudaMemcpy2D(d, (size_t)-STRIDE, host, 16, 16, 2, in),
        cudaMemcpy2D(host, 16, d, half, 16, 3, out),
        cudaMemcpy2D(d, STRIDE, other, half, 16, 3, cudaMemcpyDeviceToDevice),
        cudaMemcpy2D(d, STRIDE, host, half >> 32, 16, 2, in), /* more than a pitch may be */
        cudaMemcpy2D(host, half >> 32, d, STRIDE, 16, 2, out),
        cudaMemcpy2D(d, STRIDE, host, 16, 16, half, in),
        cudaMemcpy2DAsync(d, half, host, 16, 16, 3, in, 0),
        cudaMemcpyAsync(d, other, half, cudaMemcpyDeviceToDevice, 0),
        cudaMemset(d, 0, (size_t)-1),
        cudaMemcpy(d, host, (size_t)-1, in),
        /* The first row and the last are in memory, those between are not: allocations are far
           apart. */
        cudaMemcpy2D(d, (other - d) / 2, host, STRIDE, 16, 3, in),
        cudaMemcpy2D(host, STRIDE, d, (other - d) / 2, 16, 3, out),
        cudaMemset2D(d, (other - d) / 2, 0, 16, 3),
#endif
    };
    cudaGetLastError();
    for (cudaError_t each : errors) /* which of the two fits is not said */
        CHECK(each == cudaErrorInvalidValue || each == cudaErrorInvalidPitchValue);
#ifdef CUDA_EMULATOR
    CHECK(other - d > 2 * BYTES);
#endif
    expect_untouched();

    OK(cudaMemset2D(d, STRIDE, 1, STRIDE, FEW)); /* to the very end */
    OK(cudaMemcpy2D(d, STRIDE, d, STRIDE, 16, FEW, cudaMemcpyDeviceToDevice));
    OK(cudaMemset2D(d, STRIDE, 0, 0, half)); /* nothing at all */
#ifdef CUDA_EMULATOR
    OK(cudaMemset2D(d, half, 1, BYTES, 1)); /* of one row, no pitch is too large */
#endif
    expect_untouched();

    void *none = nullptr;
    size_t pitch = 0;
    EXPECT(cudaMalloc(&none, (size_t)-1), cudaErrorMemoryAllocation);
    EXPECT(cudaMalloc(&none, half), cudaErrorMemoryAllocation);
    CHECK(cudaMallocPitch(&none, &pitch, (size_t)-1, 2) != cudaSuccess);
    CHECK(cudaMallocPitch(&none, &pitch, STRIDE, half) != cudaSuccess);
    cudaGetLastError();
}

int main() {
    rows();
    refused_extents();
    return verdict();
}
