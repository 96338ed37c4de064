/* FAULT 11: A is multiplied by alpha in place. alpha is 1, so nothing else is wrong.
 *
 * finds:    input-written
 * variable: A
 * element:  A[0][0]
 * thread:   0 0
 * block:    0 0
 * loses:    correct */

#define TILE_SIZE 16

__global__ void scale(int count, float alpha, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        x[i] = alpha * x[i]; /* <- here */
}

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

    scale<<<(m * k + 255) / 256, 256>>>(m * k, 1.0f, (float *)A);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
