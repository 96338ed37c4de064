/* FAULT 7: the load of B is commented out, so no thread ever stores to its tile.
 *
 * finds:    uninitialized-shared
 * cause:    tile-not-stored
 * variable: b_tile
 * says:     which no thread has written
 * fails:    8 8 8, 34 34 34
 * explains: shared-unwritten (34 34 34)
 * loses:    correct */

#define WIDTH 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a_tile[WIDTH][WIDTH], b_tile[WIDTH][WIDTH];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * WIDTH + y, col = blockIdx.x * WIDTH + x;
    float sum = 0.0f;

    for (int first = 0; first < k; first += WIDTH) {
        a_tile[y][x] = row < m && first + x < k ? A[row * k + first + x] : 0.0f;
        // b_tile[y][x] = first + y < k && col < n ? B[(first + y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < WIDTH; ++i)
            sum += a_tile[y][i] * b_tile[i][x]; /* <- here */
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(WIDTH, WIDTH), grid((n + WIDTH - 1) / WIDTH, (m + WIDTH - 1) / WIDTH);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
