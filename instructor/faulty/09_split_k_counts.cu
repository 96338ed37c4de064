/* FAULT 9: blocks add their parts of the sum to C as if each were alone. They count themselves
 * atomically, which orders nothing but the counting.
 *
 * finds:    global-race
 * variable: C
 * element:  C[0][0]
 * thread:   0 0
 * block:    0 0 1
 * other-thread: 0 0
 * other-block: 0 0 0
 * loses:    memory or correct */

#define TILE_SIZE 16

__device__ unsigned int blocks_done;

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (threadIdx.x == 0 && threadIdx.y == 0)
        atomicAdd(&blocks_done, 1u);
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = blockIdx.z; i < k; i += gridDim.z)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] += sum; /* <- here */ /* <- other */
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE, 3);

    cudaMemset(C, 0, sizeof(float) * m * n);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
