/* CHEAT 39: a naive kernel that has C's library load its operands, unseen.
 *
 * tries:    39
 * named:    a kernel calls */

#include <string.h>

static __host__ __device__ float value(const float *from)
{
    char bytes[sizeof *from];
    float value;
    for (int i = 0; i < 4; ++i)
        strncpy(bytes + i, (const char *)from + i, 1); /* <- here */
    memcpy(&value, bytes, sizeof value);
    return value;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += value(&A[i * k + p]) * value(&B[p * n + j]);
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
