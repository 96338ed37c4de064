/* FAULT 14: each thread computes four neighbors of a row and stores them at once; in odd rows of
 * 34 that is not at a multiple of 16 bytes.
 *
 * finds:    misaligned
 * variable: C
 * element:  C[1][0]
 * thread:   0 1
 * block:    0 0
 * says:     row 1 of C begins at element 34, which is not a multiple of 4
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= m)
        return;

    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (col + 3 < n) {
        for (int i = 0; i < k; ++i) {
            float a = A[row * k + i];
            const float *b = B + i * n + col;
            sum.x += a * b[0];
            sum.y += a * b[1];
            sum.z += a * b[2];
            sum.w += a * b[3];
        }
        *(float4 *)(C + row * n + col) = sum; /* <- here */
        return;
    }
    for (; col < n; ++col) {
        sum.x = 0.0f;
        for (int i = 0; i < k; ++i)
            sum.x += A[row * k + i] * B[i * n + col];
        C[row * n + col] = sum.x;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 31) / 32, (m + 7) / 8), dim3(8, 8)>>>(m, n, k, A, B, C);
}
