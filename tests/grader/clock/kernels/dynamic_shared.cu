/* 64 KB of dynamic shared memory, which takes cudaFuncSetAttribute; and a carveout.
 *
 * clock:    timed */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    extern __shared__ float tile[]; /* its last part is used: it has to be there */
    float *a = tile + (48 << 8), *b = a + 256;
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
    float sum = 0.0f;
    for (int p = 0; p < k; p += 16) {
        a[y * 16 + x] = i < m && p + x < k ? A[i * k + p + x] : 0.0f;
        b[y * 16 + x] = j < n && p + y < k ? B[(p + y) * n + j] : 0.0f;
        __syncthreads();
        for (int q = 0; q < 16; ++q)
            sum += a[y * 16 + q] * b[q * 16 + x];
        __syncthreads();
    }
    if (i < m && j < n)
        C[i * n + j] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    cudaFuncSetAttribute(mysgemm, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
    cudaFuncSetAttribute(mysgemm, cudaFuncAttributePreferredSharedMemoryCarveout, 100);
    mysgemm<<<grid, block, 64 << 10>>>(m, n, k, A, B, C);
}
