/* FAULT 2: blocks of 16 x 8 threads with tiles 8 wide: two threads store into one element of each
 * tile.
 *
 * finds:    shared-race
 * cause:    block-shape
 * variable: ds_A
 * element:  ds_A[0][0]
 * thread:   8 0
 * block:    0 0
 * other-thread: 0 0
 * hint:     how many threads does the tile need
 * loses:    correct */

#define TILE_WIDTH 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float ds_A[TILE_WIDTH][TILE_WIDTH];
    __shared__ float ds_B[TILE_WIDTH][TILE_WIDTH];

    int x = threadIdx.x % TILE_WIDTH, y = threadIdx.y;
    int Row = blockIdx.y * blockDim.y + threadIdx.y;
    int Col = blockIdx.x * blockDim.x + threadIdx.x;
    float Pvalue = 0;

    for (int t = 0; t < (k - 1) / TILE_WIDTH + 1; ++t) {
        int ac = t * TILE_WIDTH + threadIdx.x, br = t * TILE_WIDTH + y;
        float a = 0, b = 0;
        if (Row < m && ac < k)
            a = A[Row * k + ac];
        if (br < k && Col < n)
            b = B[br * n + Col];
        ds_A[y][x] = a; /* <- here */ /* <- other */
        ds_B[y][x] = b;
        __syncthreads();
        for (int i = 0; i < TILE_WIDTH; ++i)
            Pvalue += ds_A[y][i] * ds_B[i][x];
        __syncthreads();
    }
    if (Row < m && Col < n)
        C[Row * n + Col] = Pvalue;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 dimBlock(2 * TILE_WIDTH, TILE_WIDTH, 1);
    dim3 dimGrid((n - 1) / dimBlock.x + 1, (m - 1) / dimBlock.y + 1, 1);
    mysgemm<<<dimGrid, dimBlock>>>(m, n, k, A, B, C);
}
