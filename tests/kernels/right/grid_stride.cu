/* RIGHT: four blocks, whatever the size; each goes on to the next tile of C. */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 step(gridDim.x * blockDim.x, gridDim.y * blockDim.y);
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < m; row += step.y)
        for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < n; col += step.x) {
            float sum = 0.0f;
            for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
            C[row * n + col] = sum;
        }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid(2, 2);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
