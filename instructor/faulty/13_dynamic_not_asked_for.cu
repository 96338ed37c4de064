/* FAULT 13: the kernel uses dynamic shared memory and the launch has no third argument.
 *
 * finds:    shared-out-of-bounds
 * cause:    tile-size
 * variable: buffer
 * element:  buffer[0]
 * thread:   0 0
 * block:    0 0
 * says:     0 bytes
 * loses:    memory */

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    extern __shared__ float buffer[];
    int t = threadIdx.x, x = t % T, y = t / T;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int p = 0; p < k; p += T) {
        buffer[t] = row < m && p + x < k ? A[row * k + p + x] : 0.0f; /* <- here */
        buffer[T * T + t] = p + y < k && col < n ? B[(p + y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += buffer[y * T + i] * buffer[T * T + i * T + x];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), T * T>>>(m, n, k, A, B, C);
}
