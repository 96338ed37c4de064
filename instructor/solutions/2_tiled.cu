/* Tiled SGEMM: a block computes one 16 x 16 tile of C, and reads A and B through shared memory.
 *
 * The sum over k is cut into phases of TILE_SIZE terms. In each phase the block's 256 threads load
 * one tile of A and one of B, one element each, and every loaded value serves 16 threads: a
 * sixteenth of the naive kernel's global loads, 4 operations a byte. What limits it now is shared
 * memory: a thread still reads two values there for each multiply and add.
 *
 * At most 65,535 blocks in y: 1,048,560 rows.
 *
 * intensity: 4 FLOP/byte
 * loses:    nothing */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
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

    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
