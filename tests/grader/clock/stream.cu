/* A stream of its own.
 *
 * clock:    refused
 * says:     stream */

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
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    mysgemm<<<grid, block, 0, stream>>>(m, n, k, A, B, C);
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
}
