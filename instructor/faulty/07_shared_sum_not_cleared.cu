/* FAULT 7: the sums are kept in shared memory and no thread has set them to zero. In a struct.
 *
 * finds:    uninitialized-shared
 * variable: s
 * thread:   7 7
 * block:    0 0
 * phase:    0 of 5
 * loses:    correct */

#define N 8

struct tiles {
    float a[N][N], b[N][N], sum[N][N];
};

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ tiles s;

    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * N + y, col = blockIdx.x * N + x;

    for (int start = 0; start < k; start += N) {
        s.a[y][x] = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        s.b[y][x] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        __syncthreads();
        float sum = s.sum[y][x]; /* <- here */
        for (int i = 0; i < N; ++i)
            sum += s.a[y][i] * s.b[i][x];
        s.sum[y][x] = sum;
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = s.sum[y][x];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + N - 1) / N, (m + N - 1) / N), dim3(N, N)>>>(m, n, k, A, B, C);
}
