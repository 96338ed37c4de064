/* FAULT 15: the block waits until as many have reported as it has threads, and only one thread of
 * each warp reports.
 *
 * finds:    endless
 * options:  --timeout 0.3
 * thread:   0 0
 * loses:    correct */

#define TILE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ unsigned arrived;
    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * TILE + tx;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;

    if (thread == 0)
        arrived = 0;
    __syncthreads();
    float sum = 0.0f;
    if (row < m && col < n)
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
    if (thread % 32 == 0)
        atomicAdd(&arrived, 1u);
    if (thread == 0)
        while (atomicAdd(&arrived, 0u) < TILE * TILE) /* <- here */
            ;
    __syncthreads();
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    mysgemm<<<grid, dim3(TILE, TILE)>>>(m, n, k, A, B, C);
}
