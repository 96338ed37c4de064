/* FAULT 5: the number of phases is (k - 1 / TILE_SIZE) + 1, which is k + 1, and the loads are not
 * guarded in k: each extra phase adds what follows the row of A and the end of B.
 *
 * finds:    out-of-bounds
 * cause:    loop-count
 * variable: B
 * element:  B[34][0]
 * fails:    1 1 1, 16 16 16, 34 34 34
 * explains: reads-outside (34 34 34)
 * loses:    correct */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int phase = 0; phase < (k - 1 / TILE_SIZE) + 1; ++phase) {
        int a_col = phase * TILE_SIZE + tx;
        int b_row = phase * TILE_SIZE + ty;

        A_s[ty][tx] = row < m ? A[row * k + a_col] : 0.0f;
        B_s[ty][tx] = col < n ? B[b_row * n + col] : 0.0f; /* <- here */
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty][i] * B_s[i][tx];
        __syncthreads();
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
