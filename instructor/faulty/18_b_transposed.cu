/* FAULT 18: B is read as if it were column-major, by a kernel with one thread for a row of C.
 *
 * finds:    wrong-result
 * says:     product with B read transposed
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m)
        return;
    for (int col = 0; col < n; ++col) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[col * k + i];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<(m + 31) / 32, 32>>>(m, n, k, A, B, C);
}
