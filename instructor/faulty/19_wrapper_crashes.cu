/* FAULT 19: the wrapper itself dereferences a null pointer.
 *
 * finds:    host-fault
 * loses:    builds */

#include <stdlib.h>

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
    volatile int *shape = NULL;
    dim3 grid((n + 15) / 16, (m + 15) / 16);

    shape[0] = m; /* <- here */
    mysgemm<<<grid, dim3(16, 16)>>>(shape[0], n, k, A, B, C);
}
