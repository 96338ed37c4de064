/* FAULT 9: block (0,0) transposes B for all, and the others read it after a __syncthreads(), which
 * waits for one block only. The scratch memory is zero before.
 *
 * finds:    global-race
 * thread:   15 15
 * block:    1 0
 * other-thread: 15 0
 * other-block: 0 0
 * says:     B_t[1054]
 * hint:     block
 * not:      C[
 * loses:    memory or correct */

#define TILE_SIZE 16

__device__ void transpose(int rows, int cols, const float *in, float *out)
{
    for (int r = threadIdx.y; r < rows; r += blockDim.y)
        for (int c = threadIdx.x; c < cols; c += blockDim.x)
            out[c * rows + r] = in[r * cols + c]; /* <- other */
}

__global__ void product(int m, int n, int k, const float *A, const float *B, float *B_t, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (blockIdx.x == 0 && blockIdx.y == 0)
        transpose(k, n, B, B_t);
    __syncthreads();
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) {
            float b = B_t[col * k + i]; /* <- here */
            sum += A[row * k + i] * b;
        }
        C[row * n + col] = sum;
    }
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    /* product() has one argument more */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);
    float *B_t;

    cudaMalloc((void **)&B_t, sizeof(float) * k * n);
    cudaMemset(B_t, 0, sizeof(float) * k * n);
    product<<<grid, block>>>(m, n, k, A, B, B_t, C);
    cudaFree(B_t);
}
