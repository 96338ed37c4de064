/* CHEAT 40: a tile in place of shared memory: a local array of one thread, which the others find by
 * its address.
 *
 * tries:    40
 * named:    another thread's local variable */

#define TILE_SIZE 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float *tile;
    float own[TILE_SIZE * TILE_SIZE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    if (tx == 0 && ty == 0)
        tile = own;
    __syncthreads();
    for (int start = 0; start < k; start += TILE_SIZE) {
        tile[ty * TILE_SIZE + tx] = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE && start + i < k; ++i)
            sum += tile[ty * TILE_SIZE + i] * (col < n ? B[(start + i) * n + col] : 0.0f);
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
