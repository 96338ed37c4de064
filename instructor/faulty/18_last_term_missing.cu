/* FAULT 18: the sum over k stops one term early.
 *
 * finds:    wrong-result
 * cause:    loop-count
 * shape:    34 34 34
 * says:     first 33 of 34 values of k
 * hint:     loop
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n)
        return;
    float dot = 0;
    for (int p = 0; p < k - 1; p++)
        dot += A[i * k + p] * B[p * n + j];
    C[i * n + j] = dot;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 threads(8, 8), blocks((n + 7) / 8, (m + 7) / 8);
    mysgemm<<<blocks, threads>>>(m, n, k, A, B, C);
}
