/* Tiled SGEMM with tiles of 32 x 32, a block's 1,024 threads.
 *
 * The same kernel as 2_tiled.cu with tiles twice as wide: every loaded value serves 32 threads, so
 * global memory moves half as much, 8 operations a byte. A row of a tile is now a warp: its 32
 * loads are one line of 128 bytes, all its threads read one value of A_s at a time (a broadcast),
 * and 32 neighbours of B_s. It gains little, because shared memory is what limits it, and that is
 * read as often as before; and a block of 1,024 threads cannot grow further this way.
 * 4_register_tiles.cu reads shared memory less.
 *
 * intensity: 8 FLOP/byte
 * loses:    nothing */

#define TILE_SIZE 32

__global__ void mysgemm(int m, int n, int k, float alpha, const float *A, const float *B,
                        float beta, float *C)
{
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int phase = 0; phase < (k + TILE_SIZE - 1) / TILE_SIZE; ++phase) {
        int a_col = phase * TILE_SIZE + tx;
        int b_row = phase * TILE_SIZE + ty;

        /* Beyond the edge of A or B a zero takes the element's place: it adds nothing. A thread
         * whose own element of C does not exist still loads, because others need what it loads. */
        A_s[ty][tx] = row < m && a_col < k ? A[row * k + a_col] : 0.0f;
        B_s[ty][tx] = b_row < k && col < n ? B[b_row * n + col] : 0.0f;
        __syncthreads(); /* both tiles are complete before anyone reads them */

        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty][i] * B_s[i][tx];
        __syncthreads(); /* everyone has read them before anyone loads the next ones */
    }

    if (row < m && col < n) {
        float *c = &C[row * n + col];
        *c = beta == 0.0f ? alpha * sum : alpha * sum + beta * *c;
    }
}

void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    const int most_rows = 65535 * TILE_SIZE; /* a grid has at most 65,535 blocks in y */
    if (m > most_rows) {
        sgemm(m - most_rows, n, k, alpha, A + (size_t)most_rows * k, B, beta,
              C + (size_t)most_rows * n);
        m = most_rows;
    }

    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, alpha, A, B, beta, C);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
