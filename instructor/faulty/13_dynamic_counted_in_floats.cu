/* FAULT 13: the launch gives the size of dynamic shared memory in floats instead of bytes: 512,
 * where 2048 are used.
 *
 * finds:    shared-out-of-bounds
 * cause:    tile-size
 * variable: tiles
 * element:  tiles[256]
 * thread:   0 0
 * block:    0 0
 * says:     512
 * loses:    memory */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    extern __shared__ float tiles[];
    float *A_s = tiles, *B_s = tiles + TILE_SIZE * TILE_SIZE;

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int phase = 0; phase < (k + TILE_SIZE - 1) / TILE_SIZE; ++phase) {
        int a_col = phase * TILE_SIZE + tx;
        int b_row = phase * TILE_SIZE + ty;

        A_s[ty * TILE_SIZE + tx] = row < m && a_col < k ? A[row * k + a_col] : 0.0f;
        B_s[ty * TILE_SIZE + tx] = b_row < k && col < n ? B[b_row * n + col] : 0.0f; /* <- here */
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty * TILE_SIZE + i] * B_s[i * TILE_SIZE + tx];
        __syncthreads();
    }

    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block, 2 * TILE_SIZE * TILE_SIZE>>>(m, n, k, A, B, C);
}
