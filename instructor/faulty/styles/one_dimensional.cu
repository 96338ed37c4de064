/* STYLE: blocks of 256 threads in a row, which find row and column by division. */

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float tile_a[T][T], tile_b[T][T];

    const int tid = threadIdx.x;
    const int x = tid % T, y = tid / T;
    const int row = blockIdx.y * T + y, col = blockIdx.x * T + x;

    float value = 0.0f;
    for (int p = 0; p < k; p += T) {
        tile_a[y][x] = row < m && p + x < k ? A[row * k + p + x] : 0.0f;   // load A
        tile_b[y][x] = p + y < k && col < n ? B[(p + y) * n + col] : 0.0f; // load B
        __syncthreads(); // first barrier
        for (int i = 0; i < T; i++)
            value += tile_a[y][i] * tile_b[i][x]; // multiply
        __syncthreads(); // second barrier
    }

    if (row < m && col < n)
        C[row * n + col] = value; // store C
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 blocks((n + T - 1) / T, (m + T - 1) / T);
    mysgemm<<<blocks, T * T>>>(m, n, k, A, B, C); // launch
}
