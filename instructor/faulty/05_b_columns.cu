/* FAULT 5: B is loaded without a guard for the column; only past the last row is that outside of B.
 *
 * finds:    out-of-bounds
 * variable: B
 * element:  B[33][34]
 * thread:   2 1
 * block:    4 0
 * phase:    4 of 5
 * says:     column
 * loses:    memory */

#define TILE 8

__global__ void mysgemm(int m, int n, int k, const float *__restrict__ A,
                        const float *__restrict__ B, float *__restrict__ C)
{
    __shared__ float a_s[TILE][TILE + 1], b_s[TILE][TILE];

    int i = blockIdx.y * TILE + threadIdx.y, j = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;

    for (int p0 = 0; p0 < k; p0 += TILE) {
        float a = 0.0f, b = 0.0f;
        if (i < m && p0 + threadIdx.x < k)
            a = A[i * k + p0 + threadIdx.x];
        if (p0 + threadIdx.y < k)
            b = B[(p0 + threadIdx.y) * n + j]; /* <- here */
        a_s[threadIdx.x][threadIdx.y] = a;
        b_s[threadIdx.y][threadIdx.x] = b;
        __syncthreads();
#pragma unroll
        for (int p = 0; p < TILE; ++p)
            sum += a_s[p][threadIdx.y] * b_s[p][threadIdx.x];
        __syncthreads();
    }
    if (i < m && j < n)
        C[i * n + j] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 threads(TILE, TILE), blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    mysgemm<<<blocks, threads>>>(m, n, k, A, B, C);
}
