/* CHEAT 40: two blocks store each element, as it happens the same; an atomic operation elsewhere is
 * to look like a lock.
 *
 * tries:    40
 * loses:    memory
 * named:    race between blocks */

#define TILE_SIZE 16

__device__ int nobody;

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
    float sum = 0.0f;

    if (row >= m || col >= n)
        return;
    for (int i = 0; i < k; ++i)
        sum += A[row * k + i] * B[i * n + col];
    atomicAdd(&nobody, 1);
    C[row * n + col] = sum;
    atomicAdd(&nobody, -1);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE, 2);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
