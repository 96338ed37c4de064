/* RIGHT: shared arrays of float, int, short, char and double: where each column of the tile begins,
 * whether rows and columns exist, and a sum in double precision. Neighboring chars are written by
 * different threads. */

#define T 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float a[T][T], b[T][T];
    __shared__ double sums[T][T];
    __shared__ int row_start[T];
    __shared__ short column[T];
    __shared__ char row_exists[T];
    __shared__ bool column_exists[T];

    int x = threadIdx.x, y = threadIdx.y;
    if (y == 0) {
        int row = blockIdx.y * T + x;
        row_exists[x] = row < m;
        row_start[x] = row * k;
        column_exists[x] = (column[x] = blockIdx.x * T + x) < n;
    }
    sums[y][x] = 0.0;
    __syncthreads();

    for (int p = 0; p < k; p += T) {
        a[y][x] = row_exists[y] && p + x < k ? A[row_start[y] + p + x] : 0.0f;
        b[y][x] = p + y < k && column_exists[x] ? B[(p + y) * n + column[x]] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i) sums[y][x] += (double)a[y][i] * b[i][x];
        __syncthreads();
    }
    if (row_exists[y] && column_exists[x])
        C[(blockIdx.y * T + y) * n + column[x]] = (float)sums[y][x];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
