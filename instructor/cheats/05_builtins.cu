/* CHEAT 05: a naive kernel that has the compiler store for it, unseen, by a function of its own.
 *
 * tries:    05
 * named:    redefines __builtin_memmove */

#include <string.h>
#undef __builtin_memmove /* <- here */

__device__ char last[8];

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
    if (i == 0 && j == 0)
        __builtin_memmove(last + (1 << 16), last, 7);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
