/* FAULT 13: 65,536 bytes of dynamic shared memory, without cudaFuncSetAttribute, which more than
 * 49,152 need.
 *
 * finds:    bad-launch
 * says:     65,536
 * says:     49,152
 * loses:    builds */

#define TILE 16
#define DEPTH 512

extern __shared__ float shared[];

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    float *a = shared, *b = shared + TILE * DEPTH;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int start = 0; start < k; start += DEPTH) {
        int depth = min(DEPTH, k - start);
        for (int i = tx; i < depth; i += TILE)
            a[ty * DEPTH + i] = row < m ? A[row * k + start + i] : 0.0f;
        for (int i = ty; i < depth; i += TILE)
            b[i * TILE + tx] = col < n ? B[(start + i) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < depth; ++i)
            sum += a[ty * DEPTH + i] * b[i * TILE + tx];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), block(TILE, TILE);
    size_t bytes = 2 * TILE * DEPTH * sizeof(float);
    mysgemm<<<grid, block, bytes>>>(m, n, k, A, B, C); /* <- here */
}
