/* RIGHT: the sum over k is split over the grid's z, and the parts are added to C atomically. C
 * is not zero before: the wrapper has to clear it. */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = blockIdx.z; i < k; i += gridDim.z) sum += A[row * k + i] * B[i * n + col];
        atomicAdd(&C[row * n + col], sum);
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE, 3);

    cudaMemset(C, 0, sizeof(float) * m * n);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
