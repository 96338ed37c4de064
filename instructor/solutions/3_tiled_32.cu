/* Tiles of 32 x 32, of which each of a block's 256 threads computes four elements.
 *
 * Tiles twice as wide: every loaded value serves 32 threads, so global memory moves half as much, 8
 * operations a byte, and a row of a tile is now a warp: its loads are one line of 128 bytes. With
 * one element a thread a block would have 1,024 threads, the most there can be, and shared memory
 * would be read as often as before, which is what limits 2_tiled.cu. So a block keeps 256 threads,
 * and each computes a column of four elements, 8 rows apart: it takes one value of B_s into a
 * register for four multiplies and adds, and reads 5 values for 4 of them instead of 8.
 *
 * What limits it is still shared memory. 4_register_tiles.cu does with A what this does with B.
 * At most 65,535 blocks in y: 2,097,120 rows.
 *
 * intensity: 8 FLOP/byte
 * loses:    nothing */

#define TILE_SIZE 32
#define ROWS      8 /* of threads in a block */
#define EACH      (TILE_SIZE / ROWS)

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int first_row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum[EACH] = {};

    for (int start = 0; start < k; start += TILE_SIZE) {
        for (int e = 0; e < EACH; ++e) {
            int y = ty + e * ROWS, row = first_row + e * ROWS;
            A_s[y][tx] = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f;
            B_s[y][tx] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        }
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; ++i) {
            float b = B_s[i][tx];
            for (int e = 0; e < EACH; ++e)
                sum[e] += A_s[ty + e * ROWS][i] * b;
        }
        __syncthreads();
    }

    for (int e = 0; e < EACH; ++e) {
        int row = first_row + e * ROWS;
        if (row < m && col < n)
            C[row * n + col] = sum[e];
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, ROWS);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
