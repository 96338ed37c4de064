/* RIGHT: no zeros where A and B end: those elements of the tiles are neither written nor read. */

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += T) {
        if (row < m && start + x < k)
            a[y][x] = A[row * k + start + x];
        if (start + y < k && col < n)
            b[y][x] = B[(start + y) * n + col];
        __syncthreads();
        if (row < m && col < n)
            for (int i = 0; i < T && start + i < k; ++i)
                sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
