/* FAULT 2: all warps read a factor from shared memory; the lanes of the last one synchronize with each
 * other, and one of them changes it for the next phase: before all other warps have read it.
 *
 * finds:    shared-race
 * variable: factor
 * other-thread: 31 3
 * loses:    memory or correct */

#define WARP 32
#define WARPS 4

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float factor;
    int lane = threadIdx.x, warp = threadIdx.y;
    int row = blockIdx.y * WARPS + warp, col = blockIdx.x * WARP + lane;

    if (lane == 0 && warp == 0)
        factor = 1.0f;
    __syncthreads();
    float sum = 0.0f;
    if (row < m && col < n)
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
    sum *= factor; /* <- here */
    __syncwarp();
    if (warp == WARPS - 1)
        sum *= factor;
    __syncwarp();
    if (warp == WARPS - 1 && lane == WARP - 1)
        factor = 2.0f; /* <- other */
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + WARP - 1) / WARP, (m + WARPS - 1) / WARPS), dim3(WARP, WARPS)>>>(m, n, k, A,
                                                                                       B, C);
}
