/* RIGHT: each thread computes 4 x 4 elements of C in registers; a block 64 x 64. */

#define BLOCK 16               /* threads in x and in y */
#define WORK 4                 /* rows and columns of each thread */
#define TILE (BLOCK * WORK)
#define DEPTH 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE][DEPTH];
    __shared__ float B_s[DEPTH][TILE];

    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * BLOCK + tx;
    int first_row = blockIdx.y * TILE, first_col = blockIdx.x * TILE;
    float sum[WORK][WORK] = {};

    for (int start = 0; start < k; start += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += BLOCK * BLOCK) {
            int row = first_row + i / DEPTH, a_col = start + i % DEPTH;
            A_s[i / DEPTH][i % DEPTH] = row < m && a_col < k ? A[row * k + a_col] : 0.0f;
            int b_row = start + i / TILE, col = first_col + i % TILE;
            B_s[i / TILE][i % TILE] = b_row < k && col < n ? B[b_row * n + col] : 0.0f;
        }
        __syncthreads();
        for (int d = 0; d < DEPTH; ++d)
            for (int y = 0; y < WORK; ++y)
                for (int x = 0; x < WORK; ++x)
                    sum[y][x] += A_s[ty * WORK + y][d] * B_s[d][tx + x * BLOCK];
        __syncthreads();
    }

    for (int y = 0; y < WORK; ++y)
        for (int x = 0; x < WORK; ++x) {
            int row = first_row + ty * WORK + y, col = first_col + tx + x * BLOCK;
            if (row < m && col < n)
                C[row * n + col] = sum[y][x];
        }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(BLOCK, BLOCK)>>>(m, n, k, A,
                                                                                        B, C);
}
