/* FAULT 11: the sums of C's last row are left in B's first row.
 *
 * finds:    input-written
 * variable: B
 * element:  B[0][0]
 * thread:   0 0
 * block:    0 0
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    float *scratch = const_cast<float *>(B);
    int col = threadIdx.x;

    for (int row = 0; row < m; ++row) {
        float sum = 0.0f;
        for (int j = col; j < n; j += blockDim.x) {
            sum = 0.0f;
            for (int i = 0; i < k; ++i)
                sum += A[row * k + i] * B[i * n + j];
            C[row * n + j] = sum;
        }
        if (row == m - 1 && col < n)
            scratch[col] = sum; /* <- here */
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<1, 64>>>(m, n, k, A, B, C);
}
