/* FAULT 19: the scratch pointer is null: its cudaMalloc is in the branch not taken.
 *
 * finds:    out-of-bounds
 * thread:   0 0
 * block:    0 0
 * says:     null
 * fails:    16 16 16
 * reports:  illegal memory access
 * loses:    correct */

#define T 16

__global__ void copy(int count, const float *from, float *to)
{
    for (int i = threadIdx.x; i < count; i += blockDim.x)
        to[i] = from[i]; /* <- here */
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    float *a = NULL;
    if (m >= 1024)
        cudaMalloc(&a, sizeof(float) * m * k);
    copy<<<1, 256>>>(m * k, A, a);
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, a, B, C);
    cudaFree(a);
}
