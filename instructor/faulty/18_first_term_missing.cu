/* FAULT 18: the sum over k begins at 1.
 *
 * finds:    wrong-result
 * cause:    loop-count
 * shape:    34 34 34
 * says:     last 33 of 34
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0;
    for (int i = 1; i < k; i++)
        sum += A[row * k + i] * B[i * n + col];
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 threads(32, 4), blocks((n + 31) / 32, (m + 3) / 4);
    mysgemm<<<blocks, threads>>>(m, n, k, A, B, C);
}
