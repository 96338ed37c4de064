/* FAULT 14: A is read four elements at a time, and a row of 34 does not begin at a multiple of 16
 * bytes.
 *
 * finds:    misaligned
 * variable: A
 * element:  A[1][0]
 * thread:   0 1
 * block:    0 0
 * says:     row 1 of A begins at element 34, which is not a multiple of 4
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n)
        return;

    float sum = 0.0f;
    int i = 0;
    for (; i + 3 < k; i += 4) {
        float4 a = *reinterpret_cast<const float4 *>(A + row * k + i); /* <- here */
        sum += a.x * B[i * n + col] + a.y * B[(i + 1) * n + col];
        sum += a.z * B[(i + 2) * n + col] + a.w * B[(i + 3) * n + col];
    }
    for (; i < k; ++i)
        sum += A[row * k + i] * B[i * n + col];
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
