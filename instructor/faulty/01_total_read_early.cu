/* FAULT 1: the threads of a block add their parts to one word atomically, and one of them stores
 * the sum; but no barrier is between.
 *
 * finds:    shared-race
 * variable: total
 * thread:   0 0
 * other-thread: 1 0
 * says:     atomic
 * loses:    memory */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float total;

    int row = blockIdx.y, col = blockIdx.x;
    if (threadIdx.x == 0)
        total = 0.0f;
    __syncthreads();
    float part = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        part += A[row * k + i] * B[i * n + col];
    atomicAdd(&total, part); /* <- other */
    if (threadIdx.x == 0)
        C[row * n + col] = total; /* <- here */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3(n, m), 32>>>(m, n, k, A, B, C);
}
