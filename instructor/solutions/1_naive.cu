/* Naive SGEMM: one thread computes one element of C, straight from global memory.
 *
 * Each thread reads a whole row of A and a whole column of B: two loads for each multiply and add,
 * a quarter of an operation a byte. The caches serve most of them, but every load is an
 * instruction that occupies the load units, and these are what limits the kernel. Neighboring
 * threads load the same values again and again; that is what 2_tiled.cu does away with.
 *
 * At most 65,535 blocks in y: 1,048,560 rows.
 *
 * intensity: 0.25 FLOP/byte
 * loses:    tiled */

#define TILE_SIZE 16

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

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
