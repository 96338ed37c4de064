/* FAULT 18: double-buffered tiles; the first phase is computed before the loop, which begins with
 * it again.
 *
 * finds:    wrong-result
 * shape:    34 34 34
 * says:     values 0 to 15 of k counted twice
 * loses:    correct */

#define T 16

__device__ void load(float a[T][T], float b[T][T], int m, int n, int k, int start, const float *A,
                     const float *B)
{
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    a[ty][tx] = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f;
    b[ty][tx] = start + ty < k && col < n ? B[(start + ty) * n + col] : 0.0f;
}

__device__ float multiply(float a[T][T], float b[T][T])
{
    float sum = 0.0f;
    for (int i = 0; i < T; ++i)
        sum += a[threadIdx.y][i] * b[i][threadIdx.x];
    return sum;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[2][T][T], b[2][T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;

    load(a[0], b[0], m, n, k, 0, A, B);
    __syncthreads();
    float sum = multiply(a[0], b[0]);
    for (int phase = 0; phase < (k + T - 1) / T; ++phase) {
        int now = phase % 2;
        load(a[1 - now], b[1 - now], m, n, k, (phase + 1) * T, A, B);
        sum += multiply(a[now], b[now]);
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
