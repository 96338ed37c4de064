/* FAULT 7: blocks of 16 x 8 threads load tiles of 16 x 16, one element each: the lower half of both
 * tiles stays empty.
 *
 * finds:    uninitialized-shared
 * variable: A_s
 * element:  A_s[15][0]
 * thread:   15 7
 * block:    0 0
 * phase:    0 of 3
 * says:     rows 8 to 15 of A_s have not been stored
 * loses:    correct */

#define TILE 16
#define ROWS 8 /* of threads; each computes two elements of C */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE][TILE], B_s[TILE][TILE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int col = blockIdx.x * TILE + tx;
    float sum[TILE / ROWS] = {};

    for (int start = 0; start < k; start += TILE) {
        int row = blockIdx.y * TILE + ty;
        A_s[ty][tx] = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f;
        B_s[ty][tx] = start + ty < k && col < n ? B[(start + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) {
            float b = B_s[i][tx];
            for (int w = 0; w < TILE / ROWS; ++w)
                sum[w] += A_s[ty + w * ROWS][i] * b; /* <- here */
        }
        __syncthreads();
    }
    for (int w = 0; w < TILE / ROWS; ++w) {
        int row = blockIdx.y * TILE + ty + w * ROWS;
        if (row < m && col < n)
            C[row * n + col] = sum[w];
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, ROWS)>>>(m, n, k, A, B,
                                                                                     C);
}
