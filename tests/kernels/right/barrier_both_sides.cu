/* RIGHT: which tile a thread loads depends on its half of the block; the barrier stands behind both
 * branches. The condition of the loop is the same for all threads of a block. */

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float tiles[2][T][T];
    int x = threadIdx.x, y = threadIdx.y, half = y / T; /* blocks of 16 x 32 threads */
    y %= T;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    int start = 0;
    while (true) {
        if (half == 0)
            tiles[0][y][x] = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        else
            tiles[1][y][x] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        __syncthreads();
        if (half == 0)
            for (int i = 0; i < T; ++i) sum += tiles[0][y][i] * tiles[1][i][x];
        start += T;
        if (start >= k) break;
        __syncthreads();
    }
    if (half == 0 && row < m && col < n) C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, 2 * T)>>>(m, n, k, A, B, C);
}
