/* RIGHT: tiles are passed to helpers: as pointers to float, as pointers to rows, as references. */

#define T 16

__device__ void load(float *tile, int rows, int cols, int row, int col, const float *matrix)
{
    float *element = tile + threadIdx.y * T + threadIdx.x;
    *element = row < rows && col < cols ? matrix[row * cols + col] : 0.0f;
}

__device__ float term(const float (*a)[T], const float (&b)[T][T], int i)
{
    return a[threadIdx.y][i] * b[i][threadIdx.x];
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[T][T], b[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += T) {
        load(&a[0][0], m, k, row, start + threadIdx.x, A);
        load((float *)b, k, n, start + threadIdx.y, col, B);
        __syncthreads();
        for (int i = 0; i < T; ++i)
            sum += term(a, b, i);
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
