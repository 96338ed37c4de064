/* CHEAT 31: the same from a kernel.
 *
 * tries:    31
 * named:    does not end */

#include <stdio.h>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    for (;;)
        printf("thread %d of block %d\n", threadIdx.x, blockIdx.x); /* <- here */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
