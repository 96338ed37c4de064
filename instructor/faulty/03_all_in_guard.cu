/* FAULT 3: all loads and barriers are inside `if (row < m && col < n)`; threads beyond the edge go
 * to the end of the kernel and their part of the tiles is missing.
 *
 * finds:    early-return
 * cause:    barrier-in-if
 * variable: A_s
 * element:  A_s[7][2]
 * thread:   2 0
 * block:    4 0
 * other-thread: 1 7
 * phase:    1 of 5
 * says:     the 48 threads with threadIdx.x >= 2 had returned
 * fails:    34 34 34, 20 16 16
 * passes:   32 20 32
 * explains: shared-unwritten (34 34 34)
 * backends: cpu
 * loses:    correct */

#define TILE_SIZE 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int phase = 0; phase < (k + TILE_SIZE - 1) / TILE_SIZE; ++phase) {
            int a_col = phase * TILE_SIZE + tx;
            int b_row = phase * TILE_SIZE + ty;

            A_s[ty][tx] = a_col < k ? A[row * k + a_col] : 0.0f;
            B_s[ty][tx] = b_row < k ? B[b_row * n + col] : 0.0f;
            __syncthreads(); /* <- here */

            for (int i = 0; i < TILE_SIZE; ++i)
                sum += A_s[ty][i] * B_s[i][tx]; /* <- other */
            __syncthreads();
        }
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
