/* FAULT 18: the sum goes through an int before it is stored.
 *
 * finds:    wrong-result
 * cause:    sum-start
 * hint:     what type does it have
 * loses:    correct */

__device__ int dot(int k, int n, const float *row_of_a, const float *column_of_b)
{
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
        sum += row_of_a[i] * column_of_b[i * n];
    return sum;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n)
        C[row * n + col] = dot(k, n, A + row * k, B + col);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
