/* FAULT 9: the 32 threads of a block add their parts of one element to C, within one block.
 *
 * finds:    global-race
 * variable: C
 * element:  C[0][0]
 * thread:   1 0
 * block:    0 0
 * other-thread: 0 0
 * loses:    memory */

__global__ void clear(int count, float *x)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        x[i] = 0.0f;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y, col = blockIdx.x;
    float part = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        part += A[row * k + i] * B[i * n + col];
    C[row * n + col] += part; /* <- here */ /* <- other */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    clear<<<(m * n + 255) / 256, 256>>>(m * n, C);
    mysgemm<<<dim3(n, m), 32>>>(m, n, k, A, B, C);
}
