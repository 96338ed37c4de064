/* FAULT 8: tiles as one-dimensional arrays; the inner loop takes one term too many, and B's tile
 * has no seventeenth row.
 *
 * finds:    shared-out-of-bounds
 * cause:    loop-count
 * variable: ds_N
 * element:  ds_N[271]
 * thread:   15 15
 * block:    0 0
 * phase:    0 of 3
 * loses:    memory or correct */

#define TILE 16

__global__ void mysgemm(int m, int n, int k, const float *M, const float *N, float *P)
{
    __shared__ float ds_M[TILE * TILE];
    __shared__ float ds_N[TILE * TILE];

    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int Row = by * TILE + ty, Col = bx * TILE + tx;
    float Pvalue = 0;

    for (int ph = 0; ph < ceilf(k / (float)TILE); ++ph) {
        ds_M[ty * TILE + tx] = Row < m && ph * TILE + tx < k ? M[Row * k + ph * TILE + tx] : 0.0f;
        ds_N[ty * TILE + tx] = ph * TILE + ty < k && Col < n ? N[(ph * TILE + ty) * n + Col] : 0.0f;
        __syncthreads();
        for (int i = 0; i <= TILE; ++i) {
            float b = ds_N[i * TILE + tx]; /* <- here */
            Pvalue += (i < TILE ? ds_M[ty * TILE + i] : 0.0f) * b;
        }
        __syncthreads();
    }
    if (Row < m && Col < n)
        P[Row * n + Col] = Pvalue;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 dimGrid(ceil(n / (float)TILE), ceil(m / (float)TILE), 1);
    dim3 dimBlock(TILE, TILE, 1);
    mysgemm<<<dimGrid, dimBlock>>>(m, n, k, A, B, C);
}
