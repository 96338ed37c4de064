/* RIGHT: helpers marked __device__, one of them a template, and host variables named gridDim
 * and blockDim. */

#define TILE_SIZE 16

template <typename T>
__device__ __forceinline__ T element(const T *matrix, int rows, int cols, int row, int col)
{
    return row < rows && col < cols ? matrix[row * cols + col] : T(0);
}

__host__ __device__ inline int tiles(int length)
{
    return (length + TILE_SIZE - 1) / TILE_SIZE;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int phase = 0; phase < tiles(k); ++phase) {
        int a_col = phase * TILE_SIZE + tx;
        int b_row = phase * TILE_SIZE + ty;

        A_s[ty][tx] = element(A, m, k, row, a_col);
        B_s[ty][tx] = element(B, k, n, b_row, col);
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty][i] * B_s[i][tx];
        __syncthreads();
    }

    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 gridDim(tiles(n), tiles(m)), blockDim(TILE_SIZE, TILE_SIZE);

    mysgemm << <gridDim, blockDim >> > (m, n, k, A, B, C);
}
