/* cudaMallocPitch and cudaMemcpy2D: rows with padding between them. */
#include "check.h"

__global__ void twice(float *data, size_t pitch, int rows, int cols) {
    int row = threadIdx.y, col = threadIdx.x;
    if (row < rows && col < cols) {
        float *start = (float *)((char *)data + row * pitch);
        start[col] *= 2;
    }
}

int main() {
    enum { ROWS = 7, COLS = 13, WIDE = 20 };
    float in[ROWS][COLS], out[ROWS][WIDE] = {}, *d;
    size_t pitch = 0;
    for (int i = 0; i < ROWS * COLS; ++i) in[i / COLS][i % COLS] = i;
    const size_t width = COLS * sizeof(float);
    OK(cudaMallocPitch(&d, &pitch, width, ROWS));
    CHECK(pitch >= width && pitch % 32 == 0);
    OK(cudaMemcpy2D(d, pitch, in, width, width, ROWS, cudaMemcpyHostToDevice));
    twice<<<1, dim3(16, 8)>>>(d, pitch, ROWS, COLS);
    OK(cudaMemcpy2D(out, sizeof out[0], d, pitch, width, ROWS, cudaMemcpyDeviceToHost));
    for (int row = 0; row < ROWS; ++row)
        for (int col = 0; col < WIDE; ++col)
            EXPECT(out[row][col], col < COLS ? 2.0f * (row * COLS + col) : 0.0f);

    EXPECT(cudaMemcpy2D(d, pitch, in, width - 4, width, ROWS, cudaMemcpyHostToDevice),
           cudaErrorInvalidPitchValue);
    EXPECT(cudaMemcpy2D(d, width - 4, in, width, width, ROWS, cudaMemcpyHostToDevice),
           cudaErrorInvalidPitchValue);
    EXPECT(cudaGetLastError(), cudaErrorInvalidPitchValue);
    OK(cudaMemcpy2D(d, pitch, in, width, 0, ROWS, cudaMemcpyHostToDevice));
    OK(cudaFree(d));
    return verdict();
}
