/* FAULT 7: terms behind the last one of the sum are not filled with zeros. With several phases the
 * tile holds the numbers of the phase before there, and no access is illegal.
 *
 * finds:    wrong-result
 * says:     values 18 to 31 of k counted twice
 * hint:     beyond k
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
        for (int e = 0; e < BLOCK_SIZE; ++e)
            Csub += Asub[ty][e] * Bsub[e][tx];
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
