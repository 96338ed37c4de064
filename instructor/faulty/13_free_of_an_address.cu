/* FAULT 13: cudaFree is given the address of the pointer. It fails, and the error is not checked.
 *
 * finds:    failed-call
 * says:     cudaFree
 * loses:    correct */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);
    float *copy;

    cudaMalloc(&copy, sizeof(float) * m * k);
    cudaMemcpy(copy, A, sizeof(float) * m * k, cudaMemcpyDeviceToDevice);
    mysgemm<<<grid, block>>>(m, n, k, copy, B, C);
    cudaFree(&copy); /* <- here */
}
