/* FAULT 4: A is loaded without a guard for the column. Past the last column is the next row, and
 * past the last row nothing.
 *
 * finds:    out-of-bounds
 * variable: A
 * element:  A[33][34]
 * thread:   2 1
 * block:    0 2
 * phase:    2 of 3
 * says:     column
 * loses:    correct */

#define TILE_SIZE 16

__device__ __forceinline__ float load_b(const float *B, int k, int n, int i, int j)
{
    return i < k && j < n ? B[i * n + j] : 0.0f;
}

__device__ __forceinline__ float load_a(const float *A, int m, int k, int i, int j)
{
    return i < m ? A[i * k + j] : 0.0f; /* <- here */
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int p = 0; p < (k + TILE_SIZE - 1) / TILE_SIZE; ++p) {
        A_s[ty][tx] = load_a(A, m, k, row, p * TILE_SIZE + tx);
        B_s[ty][tx] = load_b(B, k, n, p * TILE_SIZE + ty, col);
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
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
