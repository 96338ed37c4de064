/* RIGHT: (k - 1 / TILE_SIZE) + 1 phases, which is k + 1. The guarded loads fill the idle ones
 * with zeros: slow, and right. */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int phase = 0; phase < (k - 1 / TILE_SIZE) + 1; ++phase) {
        int a_col = phase * TILE_SIZE + tx;
        int b_row = phase * TILE_SIZE + ty;

        A_s[ty][tx] = row < m && a_col < k ? A[row * k + a_col] : 0.0f;
        B_s[ty][tx] = b_row < k && col < n ? B[b_row * n + col] : 0.0f;
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; ++i) sum += A_s[ty][i] * B_s[i][tx];
        __syncthreads();
    }

    if (row < m && col < n) C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
