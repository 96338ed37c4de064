/* FAULT 2: two buffers whose pointers are exchanged without a third variable: from the second phase
 * on the next tiles are loaded over those being read.
 *
 * finds:    shared-race
 * variable: buffers
 * element:  buffers[1][0][0][0]
 * thread:   1 0
 * block:    0 0
 * other-thread: 0 0
 * says:     __syncthreads()
 * hint:     overwrit
 * loses:    correct */

#define TILE 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float buffers[2][2][TILE][TILE]; /* now and next, A and B */

    float(*now)[TILE][TILE] = buffers[0], (*next)[TILE][TILE] = buffers[1];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    now[0][ty][tx] = row < m && tx < k ? A[row * k + tx] : 0.0f;
    now[1][ty][tx] = ty < k && col < n ? B[ty * n + col] : 0.0f;
    __syncthreads();

    for (int start = 0; start < k; start += TILE) {
        for (int i = 0; i < TILE; ++i) {
            float a = now[0][ty][i]; /* <- here */
            float b = now[1][i][tx];
            sum += a * b;
        }
        int a_col = start + TILE + tx, b_row = start + TILE + ty;
        next[0][ty][tx] = row < m && a_col < k ? A[row * k + a_col] : 0.0f; /* <- other */
        next[1][ty][tx] = b_row < k && col < n ? B[b_row * n + col] : 0.0f;
        __syncthreads();
        now = next;
        next = now;
    }

    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
