/* FAULT 9: block (0,0) copies B for all into a __device__ array, and the others read it after a
 * __syncthreads(), which waits for one block only.
 *
 * finds:    global-race
 * variable: B_copy
 * block:    1 0
 * other-block: 0 0
 * loses:    memory or correct */

#define TILE_SIZE 16

__device__ float B_copy[1 << 20];

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (blockIdx.x == 0 && blockIdx.y == 0)
        for (int i = threadIdx.y * TILE_SIZE + threadIdx.x; i < k * n; i += TILE_SIZE * TILE_SIZE)
            B_copy[i] = B[i]; /* <- other */
    __syncthreads();
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) {
            float b = B_copy[i * n + col]; /* <- here */
            sum += A[row * k + i] * b;
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
