/* RIGHT: threads right of C return before the barriers; nobody misses them, because they would
 * only have loaded what they themselves read. */

#define TILE_X 8
#define TILE_Y 32

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float b_s[TILE_Y][TILE_X];

    int col = blockIdx.x * TILE_X + threadIdx.x;
    int row = blockIdx.y * TILE_Y + threadIdx.y;
    if (col >= n) return; /* this column of b_s is read by nobody else */

    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE_Y) {
        int b_row = start + threadIdx.y;
        b_s[threadIdx.y][threadIdx.x] = b_row < k ? B[b_row * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_Y && start + i < k; ++i)
            if (row < m) sum += A[row * k + start + i] * b_s[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m) C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + TILE_X - 1) / TILE_X, (m + TILE_Y - 1) / TILE_Y), dim3(TILE_X, TILE_Y)>>>(
        m, n, k, A, B, C);
}
