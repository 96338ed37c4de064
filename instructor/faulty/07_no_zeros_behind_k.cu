/* FAULT 7: rows and columns beyond C are filled with zeros, terms behind the last one of the sum
 * are not. With k below a tile's width no thread ever writes them.
 *
 * finds:    uninitialized-shared
 * variable: Asub
 * element:  Asub[15][5]
 * shape:    20 5 20
 * thread:   15 15
 * block:    0 0
 * says:     columns 5 to 15 of Asub have not been stored
 * loses:    correct */

#define BLOCK_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float Asub[BLOCK_SIZE][BLOCK_SIZE];
    __shared__ float Bsub[BLOCK_SIZE][BLOCK_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * BLOCK_SIZE + ty, col = blockIdx.x * BLOCK_SIZE + tx;
    float Csub = 0;

    for (int start = 0; start < k; start += BLOCK_SIZE) {
        if (start + tx < k)
            Asub[ty][tx] = row < m ? A[row * k + start + tx] : 0;
        if (start + ty < k)
            Bsub[ty][tx] = col < n ? B[(start + ty) * n + col] : 0;
        __syncthreads();
        for (int e = 0; e < BLOCK_SIZE; ++e) {
            float a = Asub[ty][e]; /* <- here */
            float b = Bsub[e][tx];
            Csub += a * b;
        }
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = Csub;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 threads(BLOCK_SIZE, BLOCK_SIZE);
    dim3 blocks((n + BLOCK_SIZE - 1) / BLOCK_SIZE, (m + BLOCK_SIZE - 1) / BLOCK_SIZE);
    mysgemm<<<blocks, threads>>>(m, n, k, A, B, C);
}
