/* FAULT 18: a thread computes several elements of C and continues the sum of one in the next.
 *
 * finds:    wrong-result
 * not:      explains
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    float sum = 0.0f;
    for (int element = blockIdx.x * blockDim.x + threadIdx.x; element < m * n;
         element += gridDim.x * blockDim.x) {
        int row = element / n, col = element % n;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[element] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<2, 64>>>(m, n, k, A, B, C);
}
