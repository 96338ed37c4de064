/* RIGHT: indices beyond the edge are moved back to the last row and column, so that no load needs a
 * guard; the extra terms of k are left out and the extra elements not stored. */

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += T) {
        a[y][x] = A[min(row, m - 1) * k + min(start + x, k - 1)];
        b[y][x] = B[min(start + y, k - 1) * n + min(col, n - 1)];
        __syncthreads();
        for (int i = 0; i < min(T, k - start); ++i)
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
