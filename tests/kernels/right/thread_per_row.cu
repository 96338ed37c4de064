/* RIGHT: each thread computes a whole row of C. */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) return;
    for (int col = 0; col < n; ++col) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<(m + 63) / 64, 64>>>(m, n, k, A, B, C);
}
