/* FAULT 18: the running sum is an int: every term loses its fractional part.
 *
 * finds:    wrong-result
 * says:     C is 0
 * hint:     An int drops the fraction
 * fails:    16 16 16, 34 34 34
 * reports:  wrong
 * explains: zero (34 34 34)
 * loses:    correct */

#define TILE 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float As[TILE][TILE], Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    int sum = 0;

    for (int p = 0; p < k; p += TILE) {
        As[ty][tx] = row < m && p + tx < k ? A[row * k + p + tx] : 0;
        Bs[ty][tx] = p + ty < k && col < n ? B[(p + ty) * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += As[ty][i] * Bs[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(m, n, k, A, B,
                                                                                     C);
}
