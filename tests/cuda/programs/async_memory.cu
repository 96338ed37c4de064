/* cudaMallocAsync, cudaFreeAsync and the two-dimensional copies and sets on a stream. */
#include "check.h"

__global__ void twice(float *data, size_t pitch, int rows, int cols) {
    int row = threadIdx.y, col = threadIdx.x;
    if (row < rows && col < cols) ((float *)((char *)data + row * pitch))[col] *= 2;
}

int main() {
    enum { ROWS = 7, COLS = 13, WIDE = 32 };
    const size_t width = COLS * sizeof(float), pitch = WIDE * sizeof(float);
    float in[ROWS][COLS], out[ROWS][WIDE], *d;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    for (int i = 0; i < ROWS * COLS; ++i) in[i / COLS][i % COLS] = i;
    OK(cudaMallocAsync(&d, ROWS * pitch, stream));
    OK(cudaMemset2DAsync(d, pitch, 0, pitch, ROWS, stream));
    OK(cudaMemcpy2DAsync(d, pitch, in, width, width, ROWS, cudaMemcpyHostToDevice, stream));
    twice<<<1, dim3(16, 8), 0, stream>>>(d, pitch, ROWS, COLS);
    OK(cudaMemcpy2DAsync(out, pitch, d, pitch, pitch, ROWS, cudaMemcpyDeviceToHost, stream));
    OK(cudaStreamSynchronize(stream));
    for (int row = 0; row < ROWS; ++row)
        for (int col = 0; col < WIDE; ++col)
            EXPECT(out[row][col], col < COLS ? 2.0f * (row * COLS + col) : 0.0f);

    OK(cudaMemset2DAsync(d, pitch, 0xFF, 4, 2)); /* the default stream */
    OK(cudaMemcpy2DAsync(out, pitch, d, pitch, 8, 3, cudaMemcpyDeviceToHost));
    RUN();
    CHECK(out[0][0] != out[0][0] && out[1][0] != out[1][0]);
    EXPECT(out[2][0], 2.0f * 2 * COLS);
    EXPECT(out[0][1], 2.0f);
    EXPECT(cudaMemcpy2DAsync(d, width - 4, in, width, width, ROWS, cudaMemcpyHostToDevice, stream),
           cudaErrorInvalidPitchValue);
    EXPECT(cudaGetLastError(), cudaErrorInvalidPitchValue);
    OK(cudaFreeAsync(d, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaStreamDestroy(stream));
    return verdict();
}
