/* cudaMallocPitch, and copies and sets of rows with padding between them, which these leave alone;
 * at once and on a stream, with memory that comes and goes on the stream. */
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
    EXPECT(cudaMemset2D(d, 16, 0, 20, 2), cudaErrorInvalidValue); /* rows wider than the pitch */
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);
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
    FAILS(cudaMemcpy2DAsync(d, WIDTH - 4, in, WIDTH, WIDTH, ROWS, cudaMemcpyHostToDevice, stream),
          cudaErrorInvalidPitchValue);
    OK(cudaFreeAsync(d, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
}

int main() {
    for (int i = 0; i < ROWS * COLS; ++i) in[i / COLS][i % COLS] = i;
    at_once();
    memset(out, 0xFF, sizeof out);
    on_a_stream();
    return verdict();
}
