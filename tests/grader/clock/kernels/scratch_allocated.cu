/* Two launches through scratch of cudaMalloc: A padded row by row, then multiplied.
 *
 * clock:    timed */

__global__ void copy_rest(int begin, int k, int stride, const float *A, float *padded)
{
    int row = blockIdx.x;
    for (int p = threadIdx.x; row >= begin && p < k; p += blockDim.x)
        padded[row * stride + p] = A[row * k + p];
}

__global__ void mysgemm(int m, int n, int k, int stride, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A[i * stride + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    float *padded;
    size_t pitch;
    cudaMallocPitch((void **)&padded, &pitch, k * sizeof(float), m);
    cudaMemset2D(padded, pitch, 0, k * sizeof(float), m);
    cudaMemcpy2D(padded, pitch, A, k * sizeof(float), k * sizeof(float), m / 2,
                 cudaMemcpyDeviceToDevice);
    copy_rest<<<m, 32>>>(m / 2, k, pitch / sizeof(float), A, padded);
    mysgemm<<<grid, block>>>(m, n, k, pitch / sizeof(float), padded, B, C);
    cudaFree(padded);
}
