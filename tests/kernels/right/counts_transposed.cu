/* RIGHT, and slow: the tile of A is kept transposed, without padding, so that the 32 threads of a
 * warp store into one bank of shared memory. */

#define TILE_SIZE 32

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int start = 0; start < k; start += TILE_SIZE) {
        A_s[tx][ty] = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f;
        B_s[ty][tx] = start + ty < k && col < n ? B[(start + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE; ++i) sum += A_s[i][ty] * B_s[i][tx];
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + 31) / 32, (m + 31) / 32), dim3(32, 32)>>>(m, n, k, A, B, C);
}
