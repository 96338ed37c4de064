/* CHEAT 28: is another kernel where it is being checked: one that has its barriers. No build says that it is
 * checked: it is the same kernel everywhere, without them.
 *
 * tries:    28
 * named:    race on shared memory | elements of C are wrong */

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[T][T], b[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, i = blockIdx.y * T + ty, j = blockIdx.x * T + tx;
    float sum = 0.0f;
    for (int p = 0; p < k; p += T) {
        a[ty][tx] = i < m && p + tx < k ? A[i * k + p + tx] : 0.0f;
        b[ty][tx] = p + ty < k && j < n ? B[(p + ty) * n + j] : 0.0f;
#ifdef __SANITIZE_THREAD__ /* <- here */
        __syncthreads();
#endif
        for (int q = 0; q < T; ++q)
            sum += a[ty][q] * b[q][tx];
#ifdef __SANITIZE_THREAD__
        __syncthreads();
#endif
    }
    if (i < m && j < n)
        C[i * n + j] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(T, T), grid((n + T - 1) / T, (m + T - 1) / T);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
