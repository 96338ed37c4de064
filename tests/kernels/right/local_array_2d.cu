/* RIGHT: columns of B's tile and rows of A's go through arrays of the thread's own, with indices
 * that the compiler cannot know. */

#define T 16
#define WORK 4

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float a[T * WORK][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y;
    int row0 = blockIdx.y * T * WORK, col = blockIdx.x * T + x;
    float sums[WORK][2] = {}, row_of_a[WORK][T];

    for (int start = 0; start < k; start += T) {
        for (int w = 0; w < WORK; ++w) {
            int r = row0 + w * T + y;
            a[w * T + y][x] = r < m && start + x < k ? A[r * k + start + x] : 0.0f;
        }
        b[y][x] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        __syncthreads();
        for (int w = 0; w < WORK; ++w)
            for (int i = 0; i < T; ++i) row_of_a[w][(i + x) % T] = a[w * T + y][(i + x) % T];
        for (int i = 0; i < T; ++i)
            for (int w = 0; w < WORK; ++w) sums[w][i % 2] += row_of_a[w][i] * b[i][x];
        __syncthreads();
    }
    for (int w = 0; w < WORK; ++w)
        if (row0 + w * T + y < m && col < n)
            C[(row0 + w * T + y) * n + col] = sums[w][0] + sums[w][1];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + T - 1) / T, (m + T * WORK - 1) / (T * WORK)), dim3(T, T)>>>(m, n, k, A, B,
                                                                                    C);
}
