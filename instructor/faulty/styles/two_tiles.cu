/* STYLE: a block computes two tiles of C, one after the other. */

#define TILE 16
#define TILES 2 /* beside each other */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE][TILE];
    __shared__ float B_s[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;

    for (int tile = 0; tile < TILES; ++tile) {
        int col = (blockIdx.x * TILES + tile) * TILE + tx;
        float sum = 0.0f;
        for (int p = 0; p < k; p += TILE) {
            A_s[ty][tx] = row < m && p + tx < k ? A[row * k + p + tx] : 0.0f;   // load A
            B_s[ty][tx] = p + ty < k && col < n ? B[(p + ty) * n + col] : 0.0f; // load B
            __syncthreads(); // first barrier
            for (int i = 0; i < TILE; ++i)
                sum += A_s[ty][i] * B_s[i][tx]; // multiply
            __syncthreads(); // second barrier
        }
        if (row < m && col < n)
            C[row * n + col] = sum; // store C
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const int width = TILES * TILE;
    dim3 block(TILE, TILE);
    dim3 grid((n + width - 1) / width, (m + TILE - 1) / TILE);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C); // launch
}
