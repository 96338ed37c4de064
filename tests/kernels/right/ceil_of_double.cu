/* RIGHT: the tile's width is a double, the grid comes out of ceil(), and k is used again as a
 * loop's name. */

#define TILE_SIZE 16.0

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        const int width = k;
        float sum = 0.0f;
        for (int k = 0; k < width; k++)
            sum += A[row * width + k] * B[k * n + col];
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block = dim3((int)TILE_SIZE, (int)TILE_SIZE, 1);
    dim3 grid;
    grid.x = ceil(n / TILE_SIZE);
    grid.y = ceil(m / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
