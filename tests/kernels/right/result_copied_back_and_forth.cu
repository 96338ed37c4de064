/* RIGHT: the wrapper looks at its result on the host, as someone does who searches for a mistake:
 * through cudaMemcpy, events and managed memory. The tile's width is a double, the grid comes out
 * of ceil(), and k is used again as a loop's name. */

#include <stdlib.h>

#define TILE_SIZE 16.0

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        const int width = k;
        float sum = 0.0f;
        for (int k = 0; k < width; k++) sum += A[row * width + k] * B[k * n + col];
        C[row * n + col] = sum;
    }
}

__global__ void count_nan(int count, const float *x, int *result) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && x[i] != x[i]) atomicAdd(result, 1);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    const size_t bytes = sizeof(float) * m * n;
    dim3 block = dim3((int)TILE_SIZE, (int)TILE_SIZE, 1), grid;
    grid.x = ceil(n / TILE_SIZE);
    grid.y = ceil(m / TILE_SIZE);

    cudaEvent_t after;
    cudaEventCreate(&after);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
    cudaEventRecord(after);
    cudaEventSynchronize(after);
    cudaEventDestroy(after);

    int *nans;
    cudaMallocManaged(&nans, sizeof *nans);
    *nans = 0;
    count_nan<<<(m * n + 63) / 64, 64>>>(m * n, C, nans);
    cudaDeviceSynchronize();

    float *copy = (float *)malloc(bytes);
    cudaMemcpy(copy, C, bytes, cudaMemcpyDeviceToHost);
    if (*nans > 0) copy[0] = 0.0f;
    cudaMemcpy(C, copy, bytes, cudaMemcpyHostToDevice);
    free(copy);
    cudaFree(nans);
}
