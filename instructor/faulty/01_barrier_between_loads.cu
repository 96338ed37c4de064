/* FAULT 1: the barrier is between the two loads, so it covers A's tile and not B's. The tile's
 * width is a template argument.
 *
 * finds:    shared-race
 * cause:    barrier-missing
 * variable: tile_b
 * element:  tile_b[30][31]
 * thread:   31 31
 * block:    0 0
 * other-thread: 31 30
 * other-block: 0 0
 * phase:    0 of 2
 * says:     a __syncthreads() is missing after line
 * hint:     stored
 * loses:    correct */

template <int WIDTH>
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float tile_a[WIDTH][WIDTH];
    __shared__ float tile_b[WIDTH][WIDTH];

    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * WIDTH + y, col = blockIdx.x * WIDTH + x;
    float sum = 0.0f;

    for (int p = 0; p < (k - 1) / WIDTH + 1; ++p) {
        tile_a[y][x] = row < m && p * WIDTH + x < k ? A[row * k + p * WIDTH + x] : 0.0f;
        __syncthreads();
        tile_b[y][x] = /* <- other */
            p * WIDTH + y < k && col < n ? B[(p * WIDTH + y) * n + col] : 0.0f;

        for (int i = 0; i < WIDTH; ++i)
            sum += tile_a[y][i] * tile_b[i][x]; /* <- here */
        __syncthreads();
    }

    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const int width = 32;
    dim3 grid((n + width - 1) / width, (m + width - 1) / width);
    mysgemm<width><<<grid, dim3(width, width)>>>(m, n, k, A, B, C);
}
