/* FAULT 1: a block of 128 threads computes one element of C and adds up its partial sums as a tree,
 * with no barrier between one level and the next.
 *
 * finds:    shared-race
 * variable: partial
 * element:  partial[63]
 * thread:   31 0
 * block:    0 0
 * other-thread: 63 0
 * says:     a __syncthreads() is missing at the end of the loop
 * hint:     stored
 * loses:    memory */

#define THREADS 128

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float partial[THREADS];

    int t = threadIdx.x, row = blockIdx.y, col = blockIdx.x;
    float sum = 0.0f;
    for (int i = t; i < k; i += THREADS)
        sum += A[row * k + i] * B[i * n + col];
    partial[t] = sum;
    __syncthreads();

    for (int half = THREADS / 2; half > 0; half /= 2)
        if (t < half) {
            float other = partial[t + half]; /* <- here */
            partial[t] += other;             /* <- other */
        }
    if (t == 0)
        C[row * n + col] = partial[0];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3(n, m), THREADS>>>(m, n, k, A, B, C);
}
