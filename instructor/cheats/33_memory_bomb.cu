/* CHEAT 33: takes all memory there is.
 *
 * tries:    33
 * named:    memory | time limit | crashed */

#include <stdlib.h>
#include <string.h>

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
    for (;;) {
        char *block = (char *)malloc(1 << 26);
        memset(block, 1, 1 << 26); /* <- here */
    }
}
