/* FAULT 18: a kernel that adds to C is launched twice.
 *
 * finds:    wrong-result
 * says:     2 times the product
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = C[row * n + col];
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(8, 8), grid((n + 7) / 8, (m + 7) / 8);

    cudaMemset(C, 0, sizeof(float) * m * n);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
    cudaDeviceSynchronize();
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
