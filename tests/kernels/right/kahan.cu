/* RIGHT: compensated summation. */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f, lost = 0.0f;
        for (int i = 0; i < k; ++i) {
            float term = A[row * k + i] * B[i * n + col] - lost;
            float next = sum + term;
            lost = (next - sum) - term;
            sum = next;
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
