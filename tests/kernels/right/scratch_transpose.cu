/* RIGHT: the wrapper makes a transposed copy of B in memory of its own, asks for every error,
 * and tidies up. */

#include <stdio.h>

#define TILE_SIZE 16

__global__ void transpose(int rows, int cols, const float *in, float *out)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols)
        out[col * rows + row] = in[row * cols + col];
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B_t, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B_t[col * k + i];
        C[row * n + col] = sum;
    }
}

static dim3 grid_of(int rows, int cols)
{
    return dim3((cols + TILE_SIZE - 1) / TILE_SIZE, (rows + TILE_SIZE - 1) / TILE_SIZE);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const dim3 block(TILE_SIZE, TILE_SIZE);
    float *B_t;

    if (cudaMalloc(&B_t, sizeof(float) * k * n) != cudaSuccess) {
        printf("no memory\n");
        return;
    }
    transpose<<<grid_of(k, n), block>>>(k, n, B, B_t);
    mysgemm<<<grid_of(m, n), block>>>(m, n, k, A, B_t, C);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        printf("%s\n", cudaGetErrorString(error));
    cudaFree(B_t);
}
