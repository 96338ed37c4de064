/* FAULT 6: the guard of the column lets one more through: `col <= n`. Tiles of 8 in a template.
 *
 * finds:    out-of-bounds
 * variable: C
 * element:  C[0][34]
 * thread:   2 0
 * block:    4 0
 * says:     column
 * loses:    correct */

template <int T>
__device__ void product(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[T][T];
    __shared__ float b[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0;

    for (int p = 0; p < k; p += T) {
        a[threadIdx.y][threadIdx.x] =
            row < m && p + threadIdx.x < k ? A[row * k + p + threadIdx.x] : 0.0f;
        b[threadIdx.y][threadIdx.x] =
            p + threadIdx.y < k && col < n ? B[(p + threadIdx.y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i++)
            sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col <= n)
        C[row * n + col] = sum; /* <- here */
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    product<8>(m, n, k, A, B, C);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 7) / 8, (m + 7) / 8), dim3(8, 8)>>>(m, n, k, A, B, C);
}
