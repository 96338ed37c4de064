/* RIGHT: the sum is multiplied by a factor that the host writes into managed memory, which both
 * sides reach. */

#define TILE_SIZE 16

__global__ void scaled(int m, int n, int k, const float *factor, const float *A, const float *B,
                       float *C)
{
    int row = blockIdx.y * TILE_SIZE + threadIdx.y;
    int col = blockIdx.x * TILE_SIZE + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = *factor * sum;
    }
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);
    float *factor;

    cudaMallocManaged(&factor, sizeof *factor);
    *factor = 1.0f;
    scaled<<<grid, block>>>(m, n, k, factor, A, B, C);
    cudaDeviceSynchronize();
    cudaFree(factor);
}
