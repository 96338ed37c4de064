/* CHEAT 39: the same by C++'s library.
 *
 * tries:    39
 * named:    a kernel calls */

#include <string.h>
#include <string>

static __host__ __device__ float value(const float *from)
{
    std::string bytes;
    float value;
    bytes.append((const char *)from, sizeof *from); /* <- here */
    memcpy(&value, bytes.data(), sizeof value);
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
