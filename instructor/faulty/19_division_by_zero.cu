/* FAULT 19: an integer is divided by zero: by the number of tiles in a row, rounded down.
 *
 * finds:    kernel-fault
 * shape:    7 9 8
 * says:     division by zero
 * loses:    correct */

#define TILE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int tiles = n / TILE;
    int tile_row = blockIdx.x / tiles; /* <- here */
    int row = tile_row * TILE + threadIdx.y;
    int col = (blockIdx.x - tile_row * tiles) * TILE + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<(n + TILE - 1) / TILE * ((m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(m, n, k, A, B,
                                                                                  C);
}
