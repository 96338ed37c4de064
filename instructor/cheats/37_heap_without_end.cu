/* CHEAT 37: takes all of its address space, so that the worker gets none for C.
 *
 * tries:    37
 * named:    no memory for the result | crashed */

#include <stdlib.h>

static void *volatile last; /* or the compiler removes the calls of malloc */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
    for (size_t bytes = 1u << 30; bytes >= 16; bytes /= 2)
        while ((last = malloc(bytes))) /* <- here */
            ;
    return;
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
