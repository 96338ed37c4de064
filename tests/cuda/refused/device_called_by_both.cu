/* A __host__ __device__ function calls a __device__ one. */
__device__ int add(int a, int b) { return a + b; }
__host__ __device__ int blocks(int size) {
    return add(size, 15) / 16; // refused: calling a __device__ function (add) from a __host__ __device__ function (blocks)
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    grid.x = blocks(n);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
