/* FAULT 7: where A or B ends, the tile keeps its contents, which a block at the edge has never
 * written.
 *
 * finds:    uninitialised-shared
 * variable: B_s
 * element:  B_s[0][15]
 * thread:   15 15
 * block:    2 0
 * phase:    1 of 3
 * says:     columns 2 to 15 of B_s have not been stored
 * fails:    34 20 34, 17 17 17
 * passes:   32 32 32
 * explains: k-twice (34 20 34)
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

    for (int phase = 0; phase < (k + TILE_SIZE - 1) / TILE_SIZE; ++phase) {
        int a_col = phase * TILE_SIZE + tx;
        int b_row = phase * TILE_SIZE + ty;

        if (row < m && a_col < k)
            A_s[ty][tx] = A[row * k + a_col];
        if (b_row < k && col < n)
            B_s[ty][tx] = B[b_row * n + col];
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty][i] * B_s[i][tx]; /* <- here */
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
