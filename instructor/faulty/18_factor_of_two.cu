/* FAULT 18: the inner loop is unrolled by hand and takes each term twice.
 *
 * finds:    wrong-result
 * says:     2 times the product
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float even = 0.0f, odd = 0.0f;
        for (int i = 0; i < k; ++i) {
            even += A[row * k + i] * B[i * n + col];
            odd += A[row * k + i] * B[i * n + col];
        }
        C[row * n + col] = even + odd;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
