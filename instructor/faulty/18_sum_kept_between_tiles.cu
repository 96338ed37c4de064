/* FAULT 18: a block computes several tiles of C and never sets the sum back to 0.
 *
 * finds:    wrong-result
 * fails:    64 16 64
 * passes:   32 20 32, 1 1 1
 * explains: sum-not-reset (64 16 64)
 * loses:    correct */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int first_row = blockIdx.y * blockDim.y + threadIdx.y;
    int first_col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;

    for (int row = first_row; row < m; row += gridDim.y * blockDim.y)
        for (int col = first_col; col < n; col += gridDim.x * blockDim.x) {
            for (int i = 0; i < k; ++i)
                sum += A[row * k + i] * B[i * n + col];
            C[row * n + col] = sum;
        }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid(2, 2);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
