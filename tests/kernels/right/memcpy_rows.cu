/* RIGHT: each thread copies a piece of its row of A with memcpy, of a length that only the run knows. */

#include <string.h>
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    float row[64];
    if (i < m && j < n) {
        float sum = 0;
        for (int p = 0; p < k; p += 64) {
            int left = k - p < 64 ? k - p : 64;
            memcpy(row, &A[i * k + p], left * sizeof(float));
            for (int q = 0; q < left; q++) sum += row[q] * B[(p + q) * n + j];
        }
        C[i * n + j] = sum;
    }
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
