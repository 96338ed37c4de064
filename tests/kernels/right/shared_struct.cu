/* RIGHT: both tiles in one struct in shared memory, with methods. */

template <int SIZE> struct Tiles {
    float a[SIZE][SIZE + 1], b[SIZE][SIZE];
    int terms;

    __device__ void load(int m, int n, int k, int row, int col, int start, const float *A,
                         const float *B)
    {
        int x = threadIdx.x, y = threadIdx.y;
        a[y][x] = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        b[y][x] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        if (x == 0 && y == 0)
            terms = min(SIZE, k - start);
    }

    __device__ float multiply() const
    {
        float sum = 0.0f;
        for (int i = 0; i < terms; ++i)
            sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        return sum;
    }
};

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ Tiles<16> tiles;
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < k; start += 16) {
        tiles.load(m, n, k, row, col, start, A, B);
        __syncthreads();
        sum += tiles.multiply();
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
