/* FAULT 18: the block's tile of C is collected in shared memory and never stored.
 *
 * finds:    unwritten
 * says:     No element of C was written
 * loses:    correct */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float C_s[TILE_SIZE][TILE_SIZE];
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;

    C_s[threadIdx.y][threadIdx.x] = 0.0f;
    if (row < m && col < n)
        for (int i = 0; i < k; ++i)
            C_s[threadIdx.y][threadIdx.x] += A[row * k + i] * B[i * n + col];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
