/* FAULT 3: one warp loads A's tile, the others B's, and each side has a barrier of its own.
 *
 * finds:    divergent-barrier
 * thread:   0 0
 * block:    0 0
 * other-thread: 0 2
 * phase:    0 of 3
 * says:     the 32 threads with threadIdx.y < 2 wait here
 * says:     the other 224 wait at
 * loses:    memory */

#define TILE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a_tile[TILE][TILE];
    __shared__ float b_tile[TILE][TILE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int start = 0; start < k; start += TILE) {
        if (ty < 2) {
            for (int y = ty; y < TILE; y += 2) {
                int r = blockIdx.y * TILE + y;
                a_tile[y][tx] = r < m && start + tx < k ? A[r * k + start + tx] : 0.0f;
            }
            __syncthreads(); /* <- here */
        } else {
            for (int y = ty - 2; y < TILE; y += TILE - 2)
                b_tile[y][tx] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
            __syncthreads(); /* <- other */
        }
        for (int i = 0; i < TILE; ++i)
            sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }

    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    mysgemm<<<grid, dim3(TILE, TILE)>>>(m, n, k, A, B, C);
}
