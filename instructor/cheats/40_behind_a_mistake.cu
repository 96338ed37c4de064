/* CHEAT 40: tiles in other threads' local arrays, which no GPU could read, behind a mistake that costs
 * less: a local array is read beyond its end first.
 *
 * tries:    40
 * named:    another thread's local variable */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float *tile_A[TILE_SIZE][TILE_SIZE], *tile_B[TILE_SIZE][TILE_SIZE];
    float own[2] = {0.0f, 0.0f};
    int x = threadIdx.x, y = threadIdx.y;
    int i = blockIdx.y * TILE_SIZE + y, j = blockIdx.x * TILE_SIZE + x;
    int beyond = k > 0 ? 2 : 0;
    volatile float unused = own[beyond];
    (void)unused;
    tile_A[y][x] = &own[0];
    tile_B[y][x] = &own[1];
    float sum = 0.0f;
    for (int p = 0; p < k; p += TILE_SIZE) {
        own[0] = i < m && p + x < k ? A[i * k + p + x] : 0.0f;
        own[1] = p + y < k && j < n ? B[(p + y) * n + j] : 0.0f;
        __syncthreads();
        for (int q = 0; q < TILE_SIZE; ++q)
            sum += *tile_A[y][q] * *tile_B[q][x]; /* <- here */
        __syncthreads();
    }
    if (i < m && j < n)
        C[i * n + j] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE), grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
