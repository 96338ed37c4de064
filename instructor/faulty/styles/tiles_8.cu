/* STYLE: tiles of 8; the guards ask for what is outside. */

#define BLOCK 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const int r = blockDim.y * blockIdx.y + threadIdx.y;
    const int c = blockDim.x * blockIdx.x + threadIdx.x;
    const int y = threadIdx.y, x = threadIdx.x;
    __shared__ float As[BLOCK][BLOCK];
    __shared__ float Bs[BLOCK][BLOCK];
    float total = 0.f;
    const int steps = (k + BLOCK - 1) / BLOCK;

    for (int s = 0; s < steps; ++s) {
        int ak = s * BLOCK + x;
        int bk = s * BLOCK + y;
        if (r >= m || ak >= k)
            As[y][x] = 0.f;
        else
            As[y][x] = A[r * k + ak]; // load A
        if (bk >= k || c >= n)
            Bs[y][x] = 0.f;
        else
            Bs[y][x] = B[bk * n + c]; // load B

        __syncthreads(); // first barrier
        for (int e = 0; e < BLOCK; ++e)
            total += As[y][e] * Bs[e][x]; // multiply
        __syncthreads(); // second barrier
    }
    if (r >= m || c >= n)
        return;
    C[r * n + c] = total; // store C
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 threadsPerBlock(BLOCK, BLOCK);
    dim3 numBlocks((n + BLOCK - 1) / BLOCK, (m + BLOCK - 1) / BLOCK);
    mysgemm<<<numBlocks, threadsPerBlock>>>(m, n, k, A, B, C); // launch
}
