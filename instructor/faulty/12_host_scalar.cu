/* FAULT 12: the kernel is given the address of a variable of the wrapper.
 *
 * finds:    host-pointer-on-device
 * thread:   0 0
 * block:    0 0
 * loses:    correct */

__global__ void scaled(int m, int n, int k, const float *alpha, const float *A, const float *B,
                       float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = *alpha * sum; /* <- here */
    }
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    /* scaled() does it */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const float alpha = 1.0f;
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);

    scaled<<<grid, block>>>(m, n, k, &alpha, A, B, C);
}
