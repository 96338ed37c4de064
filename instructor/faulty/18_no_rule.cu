/* FAULT 18: elements whose row and column add up to a multiple of seven are too large, each by
 * another amount. No usual mistake does that, and none may be named.
 *
 * finds:    wrong-result
 * says:     the first: C[0][0]
 * not:      explains
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = (row + col) % 7 == 0 ? sum + 1.5f + 0.37f * (row % 5) : sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
