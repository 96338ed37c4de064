/* RIGHT: a barrier that votes tells whether all of a tile is zero, which needs no product. */

#define T 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int start = 0; start < k + T; start += T) { /* the last tile is empty */
        float mine = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        a[y][x] = mine;
        b[y][x] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        if (__syncthreads_or(mine != 0.0f))
            for (int i = 0; i < T; ++i)
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
