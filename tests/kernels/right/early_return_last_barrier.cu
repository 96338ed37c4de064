/* RIGHT: in the last phase threads without an element of C return between the two barriers, when
 * all they had to load is loaded. */

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += T) {
        a[y][x] = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        b[y][x] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        __syncthreads();
        if (start + T >= k && (row >= m || col >= n)) return;
        for (int i = 0; i < T; ++i) sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
