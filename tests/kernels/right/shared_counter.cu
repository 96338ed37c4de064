/* RIGHT: the last thread of a block to count itself stores what all have added, and sets the counter
 * back: with fences for the block, and no barrier. */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float total;
    __shared__ int done;

    int row = blockIdx.y, col = blockIdx.x;
    if (threadIdx.x == 0) {
        total = 0.0f;
        done = 0;
    }
    __syncthreads();
    float part = 0.0f;
    for (int i = threadIdx.x; i < k; i += blockDim.x)
        part += A[row * k + i] * B[i * n + col];
    atomicAdd(&total, part);
    __threadfence_block();
    if (atomicAdd(&done, 1) == blockDim.x - 1) {
        __threadfence_block();
        done = 0;
        C[row * n + col] = total;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3(n, m), 32>>>(m, n, k, A, B, C);
}
