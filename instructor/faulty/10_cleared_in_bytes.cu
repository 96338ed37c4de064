/* FAULT 10: C is cleared before it is added to, but cudaMemset counts bytes: a quarter is.
 *
 * finds:    uninitialized-global
 * variable: C
 * element:  C[8][17]
 * thread:   33 0
 * block:    2 0
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= m * n)
        return;
    int row = index / n, col = index % n;
    for (int i = 0; i < k; ++i)
        C[index] += A[row * k + i] * B[i * n + col]; /* <- here */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    cudaMemset(C, 0, m * n);
    mysgemm<<<(m * n + 127) / 128, 128>>>(m, n, k, A, B, C);
}
