/* FAULT 15: half of a warp waits in a shuffle for all 32 lanes, of which the other half waits at
 * the barrier after the branch.
 *
 * finds:    deadlock
 * thread:   0 0
 * block:    0 0
 * other-thread: 16 0
 * says:     the 16 threads with threadIdx.x >= 16 wait for them at the __syncthreads()
 * loses:    correct */

#define WARP 32

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float total;
    int lane = threadIdx.x, row = blockIdx.y, col = blockIdx.x;

    float sum = 0.0f;
    for (int i = lane % 16; i < k; i += 16)
        sum += A[row * k + i] * B[i * n + col];
    if (lane < 16) {
        for (int offset = 8; offset > 0; offset /= 2)
            sum += __shfl_down_sync(0xffffffff, sum, offset); /* <- here */
        if (lane == 0)
            total = sum;
    }
    __syncthreads(); /* <- other */
    if (lane == 0)
        C[row * n + col] = total;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3(n, m), WARP>>>(m, n, k, A, B, C);
}
