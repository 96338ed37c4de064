/* FAULT 17: launched only where all sizes are multiples of the tile; the other case was left for
 * later.
 *
 * finds:    no-launch
 * loses:    correct */

template <int TILE>
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, col = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int p = 0; p < k; p += TILE) {
        a[y][x] = A[row * k + p + x];
        b[y][x] = B[(p + y) * n + col];
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) /* <- here */
{ /* <- here */
    const int tile = 8;
    if (m % tile == 0 && n % tile == 0 && k % tile == 0)
        mysgemm<tile><<<dim3(n / tile, m / tile), dim3(tile, tile)>>>(m, n, k, A, B, C);
} /* <- here */
