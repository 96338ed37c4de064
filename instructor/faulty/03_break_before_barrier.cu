/* FAULT 3: threads right of C leave the loop over the phases at once and wait at the barrier after
 * it. C is stored by way of shared memory.
 *
 * finds:    divergent-barrier
 * thread:   0 0
 * block:    2 0
 * other-thread: 2 0
 * phase:    0 of 3
 * says:     the 32 threads with threadIdx.x < 2 wait here
 * says:     the other 224 wait at
 * loses:    correct */

#define W 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float As[W][W], Bs[W][W], Cs[W][W];

    const unsigned tx = threadIdx.x, ty = threadIdx.y;
    const unsigned row = blockIdx.y * W + ty, col = blockIdx.x * W + tx;

    Cs[ty][tx] = 0.0f;
    for (unsigned start = 0; start < k; start += W) {
        if (col >= n)
            break;
        As[ty][tx] = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f;
        Bs[ty][tx] = start + ty < k ? B[(start + ty) * n + col] : 0.0f;
        __syncthreads(); /* <- here */
        float sum = 0.0f;
        for (unsigned i = 0; i < W; ++i)
            sum += As[ty][i] * Bs[i][tx];
        Cs[ty][tx] += sum;
        __syncthreads();
    }
    __syncthreads(); /* <- other */
    if (row < m && col < n)
        C[row * n + col] = Cs[ty][tx];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n + W - 1) / W, (m + W - 1) / W);
    mysgemm<<<grid, dim3(W, W)>>>(m, n, k, A, B, C);
}
