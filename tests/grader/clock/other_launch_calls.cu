/* One half of C by cudaLaunchKernelEx without attributes, the other by cudaLaunchKernel.
 *
 * clock:    timed */

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
#ifdef __NVCC__ /* the emulator does not know this */
    int upper = m / 2, lower = m - upper;
    const float *A_lower = A + (size_t)upper * k;
    float *C_lower = C + (size_t)upper * n;
    void *arguments[] = {&lower, &n, &k, &A_lower, &B, &C_lower};
    cudaLaunchConfig_t config = {};
    config.blockDim = dim3(16, 16);
    config.gridDim = dim3((n + 15) / 16, (upper + 15) / 16);
    cudaLaunchKernelEx(&config, mysgemm, upper, n, k, A, B, C);
    cudaLaunchKernel((const void *)mysgemm, dim3((n + 15) / 16, (lower + 15) / 16), dim3(16, 16),
                     arguments, 0, 0);
#else
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
#endif
}
