/* FAULT 13: A is copied on the device, but the direction says that it comes from the host. The launch
 * is as it should be; the copy failed.
 *
 * finds:    failed-call
 * says:     and the error was still pending when the wrapper returned
 * fails:    34 34 34, 1 1 1
 * reports:  13_copy_direction.cu:33: cudaMemcpy failed: invalid argument
 * backends: cpu
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
    cudaMemcpy(copy, A, sizeof(float) * m * k, cudaMemcpyHostToDevice); /* <- here */
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
    cudaFree(copy);
}
