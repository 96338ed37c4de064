/* RIGHT, and slow: threadIdx.x counts rows, so neighboring threads load from neighboring rows of
 * A and store to neighboring rows of C: each from a sector of its own. */

#define BLOCK_SIZE 32

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y * BLOCK_SIZE + threadIdx.x;
    int col = blockIdx.x;

    if (row < m) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 grid(n, (m + BLOCK_SIZE - 1) / BLOCK_SIZE);

    mysgemm<<<grid, BLOCK_SIZE>>>(m, n, k, A, B, C);
}
