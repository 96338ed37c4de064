/* FAULT 15: the loop advances by the number of warps in a row of the block, which is 0 in blocks of
 * 16 x 16.
 *
 * finds:    endless
 * options:  --timeout 0.3
 * thread:   0 0
 * block:    0 0
 * says:     which does not end
 * hint:     loop
 * loses:    correct */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int step = blockDim.x / 32;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; i += step) sum += A[row * k + i] * B[i * n + col]; /* <- here */
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
