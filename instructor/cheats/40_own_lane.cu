/* CHEAT 40: each row of threads stores the same words; warp operations of each lane with itself
 * are to look like synchronization.
 *
 * tries:    40
 * loses:    memory
 * named:    race on shared memory */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];
    __shared__ int exists[TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    unsigned own = 1u << (ty * TILE_SIZE + tx) % 32;
    __syncwarp(own);
    exists[tx] = __shfl_sync(own, col, (ty * TILE_SIZE + tx) % 32) < n;
    __syncwarp(own);

    for (int start = 0; start < k; start += TILE_SIZE) {
        A_s[ty][tx] = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f;
        B_s[ty][tx] = start + ty < k && col < n ? B[(start + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty][i] * B_s[i][tx];
        __syncthreads();
    }
    if (row < m && exists[tx])
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
