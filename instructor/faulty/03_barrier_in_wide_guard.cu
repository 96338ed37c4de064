/* FAULT 3: the first barrier is in a guard that is 8 rows and columns wider than C. It hung on an
 * H200: lanes that skip the branch wait at its end for those inside, which wait for them at the
 * barrier. A count of arrivals says that all are there.
 *
 * finds:    divergent-barrier
 * cause:    barrier-in-if
 * shape:    7 3 9
 * thread:   0 0
 * block:    0 0
 * other-thread: 0 15
 * says:     the other 16 wait at
 * fails:    34 34 34, 7 3 9, 1 1 1
 * passes:   64 64 64, 2 3 1100
 * reports:  __syncthreads() that not all threads of the block reach
 * reports:  of the same warp, waits at the one in line 41
 * backends: cpu
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

        A_s[ty][tx] = row < m && a_col < k ? A[row * k + a_col] : 0.0f;
        B_s[ty][tx] = b_row < k && col < n ? B[b_row * n + col] : 0.0f;
        if (row < m + 8 && col < n + 8)
            __syncthreads(); /* <- here */
        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty][i] * B_s[i][tx];
        __syncthreads(); /* <- other */
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
