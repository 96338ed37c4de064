/* RIGHT: where k and n are multiples of four: float4 from global memory to shared,
 * and from registers to C; elsewhere a kernel without. */

#define T 32
#define VECTORS (T / 4)

__global__ void vectors(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float4 a[T][VECTORS], b[T][VECTORS];
    int x = threadIdx.x, y = threadIdx.y; /* 8 x 32 threads, four elements each */
    int row = blockIdx.y * T + y, col = blockIdx.x * T + 4 * x;
    float4 zero = make_float4(0.0f, 0.0f, 0.0f, 0.0f), sum = zero;

    for (int start = 0; start < k; start += T) {
        int a_col = start + 4 * x, b_row = start + y;
        a[y][x] = row < m && a_col < k ? *(const float4 *)&A[row * k + a_col] : zero;
        b[y][x] = b_row < k && col < n ? *(const float4 *)&B[b_row * n + col] : zero;
        __syncthreads();
        for (int i = 0; i < T; ++i) {
            float p = reinterpret_cast<const float *>(a[y])[i];
            float4 q = b[i][x];
            sum.x += p * q.x;
            sum.y += p * q.y;
            sum.z += p * q.z;
            sum.w += p * q.w;
        }
        __syncthreads();
    }
    if (row < m && col < n)
        *reinterpret_cast<float4 *>(&C[row * n + col]) = sum;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
        sum += A[row * k + i] * B[i * n + col];
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n + T - 1) / T, (m + T - 1) / T);
    if (k % 4 == 0 && n % 4 == 0)
        vectors<<<grid, dim3(VECTORS, T)>>>(m, n, k, A, B, C);
    else
        mysgemm<<<grid, dim3(T, T)>>>(m, n, k, A, B, C);
}
