/* FAULT 12: the sum of C's first row is kept in a __device__ variable, and the wrapper reads that
 * by its name, which is another variable on the host.
 *
 * finds:    device-variable-on-host
 * says:     another copy
 * hint:     cudaMemcpyFromSymbol
 * loses:    correct */

#include <cstdio>

#define WIDTH 8

__device__ float first_row;

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int col = blockIdx.x * WIDTH + threadIdx.x, row = blockIdx.y * WIDTH + threadIdx.y;
    if (col >= n || row >= m)
        return;
    float sum = 0.0f;
    for (int p = 0; p < k; ++p)
        sum += A[row * k + p] * B[p * n + col];
    C[row * n + col] = sum;
    if (row == 0)
        atomicAdd(&first_row, sum);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n - 1) / WIDTH + 1, (m - 1) / WIDTH + 1), block(WIDTH, WIDTH);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
    cudaDeviceSynchronize();
    fprintf(stderr, "sum of the first row: %g\n", first_row); /* <- here */
}
