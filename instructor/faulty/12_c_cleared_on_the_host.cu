/* FAULT 12: the wrapper clears C with a loop, on the CPU.
 *
 * finds:    device-pointer-on-host
 * variable: C
 * element:  C[0][0]
 * loses:    builds */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n)
        for (int i = 0; i < k; ++i)
            C[row * n + col] += A[row * k + i] * B[i * n + col];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    for (int i = 0; i < m * n; ++i)
        C[i] = 0.0f; /* <- here */
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
