/* RIGHT: the lanes of a warp go separate ways: even ones sum forwards, odd ones backwards. */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;

    if (col >= n) return;
    if (col % 2 == 0) {
        for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
    } else {
        for (int i = k; i-- > 0;) sum += A[row * k + i] * B[i * n + col];
    }
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + 31) / 32, m), 32>>>(m, n, k, A, B, C);
}
