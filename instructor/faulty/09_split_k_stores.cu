/* FAULT 9: two blocks each compute half of the sum for the same tile of C, and store it.
 *
 * finds:    global-race
 * variable: C
 * element:  C[0][0]
 * thread:   0 0
 * block:    0 0 1
 * other-thread: 0 0
 * other-block: 0 0 0
 * hint:     block
 * loses:    correct */

#define TILE 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float sa[TILE][TILE];
    __shared__ float sb[TILE][TILE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int half = (k + 1) / 2;
    int from = blockIdx.z * half, to = min(from + half, k);
    float sum = 0.0f;

    for (int start = from; start < to; start += TILE) {
        sa[ty][tx] = row < m && start + tx < to ? A[row * k + start + tx] : 0.0f;
        sb[ty][tx] = start + ty < to && col < n ? B[(start + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += sa[ty][i] * sb[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum; /* <- here */ /* <- other */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE, 2);
    mysgemm<<<grid, dim3(TILE, TILE)>>>(m, n, k, A, B, C);
}
