/* FAULT 1: double-buffered tiles; there is one barrier at the end of each phase, and none after the
 * loads before the first one.
 *
 * finds:    shared-race
 * cause:    barrier-missing
 * variable: As
 * element:  As[0][0][1]
 * thread:   0 0
 * block:    0 0
 * other-thread: 1 0
 * says:     a __syncthreads() is missing after line
 * hint:     stored
 * loses:    correct */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float As[2][TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[2][TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    int now = 0;

    As[now][ty][tx] = row < m && tx < k ? A[row * k + tx] : 0.0f; /* <- other */
    Bs[now][ty][tx] = ty < k && col < n ? B[ty * n + col] : 0.0f;

    for (int start = 0; start < k; start += TILE_SIZE) {
        int next = start + TILE_SIZE;
        As[1 - now][ty][tx] = row < m && next + tx < k ? A[row * k + next + tx] : 0.0f;
        Bs[1 - now][ty][tx] = next + ty < k && col < n ? B[(next + ty) * n + col] : 0.0f;

        for (int i = 0; i < TILE_SIZE; ++i)
            sum += As[now][ty][i] * Bs[now][i][tx]; /* <- here */
        __syncthreads();
        now = 1 - now;
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
