/* RIGHT: the wrapper looks at its result on the host, as someone does who searches for a mistake:
 * through cudaMemcpy, events and managed memory. */

#include <stdlib.h>

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

__global__ void count_nan(int count, const float *x, int *result)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && x[i] != x[i])
        atomicAdd(result, 1);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    cudaEvent_t before, after;
    cudaEventCreate(&before);
    cudaEventCreate(&after);
    cudaEventRecord(before);
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
    cudaEventRecord(after);
    cudaEventSynchronize(after);

    int *nans;
    cudaMallocManaged(&nans, sizeof *nans);
    *nans = 0;
    count_nan<<<(m * n + 63) / 64, 64>>>(m * n, C, nans);
    cudaDeviceSynchronize();

    float *copy = (float *)malloc(sizeof(float) * m * n);
    cudaMemcpy(copy, C, sizeof(float) * m * n, cudaMemcpyDeviceToHost);
    if (*nans > 0)
        copy[0] = 0.0f;
    cudaMemcpy(C, copy, sizeof(float) * m * n, cudaMemcpyHostToDevice);
    free(copy);
    cudaFree(nans);
    cudaEventDestroy(before);
    cudaEventDestroy(after);
}
