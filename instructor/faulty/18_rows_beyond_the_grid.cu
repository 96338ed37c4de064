/* FAULT 18: the grid is as high as it is wide; C is not.
 *
 * finds:    unwritten
 * cause:    grid-too-small
 * shape:    70 20 35
 * says:     rows 48 to 69
 * loses:    correct */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum = __fmaf_rn(A[row * k + i], B[i * n + col], sum);
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int blocks = (n + 15) / 16;
    mysgemm<<<dim3(blocks, blocks), dim3(16, 16)>>>(m, n, k, A, B, C);
}
