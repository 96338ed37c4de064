/* FAULT 13: blocks of 33 x 33 threads, which are 65 too many. The wrapper checks the error.
 *
 * finds:    bad-launch
 * says:     1089
 * says:     1024
 * says:     basicSgemm called cudaGetLastError()
 * loses:    builds */

#include <stdio.h>

#define THREADS 33

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(THREADS, THREADS);
    dim3 grid((n + THREADS - 1) / THREADS, (m + THREADS - 1) / THREADS);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C); /* <- here */
    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess)
        fprintf(stderr, "launch: %s\n", cudaGetErrorString(error));
}
