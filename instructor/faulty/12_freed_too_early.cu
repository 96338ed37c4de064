/* FAULT 12: the transposed copy of B is freed before the kernel that reads it.
 *
 * finds:    freed-memory
 * thread:   0 0
 * block:    0 0
 * loses:    correct */

#define T 8

__global__ void transpose(int rows, int cols, const float *in, float *out)
{
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    if (i < rows && j < cols)
        out[j * rows + i] = in[i * cols + j];
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *Bt, float *C)
{
    int i = blockIdx.y * T + threadIdx.y, j = blockIdx.x * T + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p) {
            float b = Bt[j * k + p]; /* <- here */
            sum += A[i * k + p] * b;
        }
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    float *Bt;
    dim3 block(T, T);
    cudaMalloc(&Bt, sizeof(float) * k * n);
    transpose<<<dim3((n + T - 1) / T, (k + T - 1) / T), block>>>(k, n, B, Bt);
    cudaFree(Bt);
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), block>>>(m, n, k, A, Bt, C);
}
