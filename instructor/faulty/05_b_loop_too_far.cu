/* FAULT 5: a naive kernel whose sum runs to k inclusive. A's next row hides it for A, not for B.
 *
 * finds:    out-of-bounds
 * cause:    loop-count
 * variable: B
 * element:  B[34][0]
 * thread:   0 0
 * block:    0 0
 * says:     row
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i <= k; ++i) {
            float b = B[i * n + col]; /* <- here */
            sum += A[row * k + i] * b;
        }
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(32, 8);
    dim3 grid((n + 31) / 32, (m + 7) / 8);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
