/* RIGHT: blocks of 32 x 8: a warp is one row. */

#define BLOCK_X 32
#define BLOCK_Y 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(BLOCK_X, BLOCK_Y);
    dim3 grid((n + BLOCK_X - 1) / BLOCK_X, (m + BLOCK_Y - 1) / BLOCK_Y);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
