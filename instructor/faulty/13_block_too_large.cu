/* FAULT 13: tiles of 64 x 64 make blocks of 4096 threads. The launch's error is not checked.
 *
 * finds:    bad-launch
 * says:     4096
 * says:     1024
 * says:     the error was not checked
 * fails:    64 64 64, 1 1 1
 * reports:  the launch failed: invalid
 * loses:    builds */

#define TILE_SIZE 64

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
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C); /* <- here */
}
