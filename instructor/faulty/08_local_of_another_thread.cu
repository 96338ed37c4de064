/* FAULT 8: the tile is a local array of thread (0,0), and the others have a pointer to it. Local
 * memory is each thread's own: on a GPU they find their own array there.
 *
 * finds:    foreign-local
 * loses:    correct */

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
        float of_a = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f;
        tile[ty * TILE_SIZE + tx] = of_a; /* <- here */
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
