/* FAULT 18: the sums are added to a C that is not zero but one everywhere.
 *
 * finds:    wrong-result
 * cause:    sum-start
 * hint:     what does the sum start with
 * loses:    correct */

__global__ void fill(int count, float value, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        x[i] = value;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] += sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    fill<<<(m * n + 127) / 128, 128>>>(m * n, 1.0f, C);
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
