/* CHEAT 17: has a kernel store A and B to memory of the host's, which no GPU can reach.
 *
 * tries:    17
 * named:    host */

#include <stdlib.h>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

__global__ void copy(int count, const float *from, float *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i]; /* <- here */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    float *a = (float *)malloc(sizeof(float) * m * k), *b = (float *)malloc(sizeof(float) * k * n);
    float *c = (float *)calloc(m * n, sizeof(float));
    copy<<<(m * k + 255) / 256, 256>>>(m * k, A, a);
    copy<<<(k * n + 255) / 256, 256>>>(k * n, B, b);
    cudaDeviceSynchronize();
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
            for (int p = 0; p < k; ++p)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
    copy<<<(m * n + 255) / 256, 256>>>(m * n, c, C);
    free(a);
    free(b);
    free(c);
}
