/* STYLE: as in the handout: tiles of 16 x 16, and a thread for each element of C. */

#define TILE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE][TILE];
    __shared__ float B_s[TILE][TILE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int phase = 0; phase < (k + TILE - 1) / TILE; ++phase) {
        int a_col = phase * TILE + tx;
        int b_row = phase * TILE + ty;

        A_s[ty][tx] = row < m && a_col < k ? A[row * k + a_col] : 0.0f; // load A
        B_s[ty][tx] = b_row < k && col < n ? B[b_row * n + col] : 0.0f; // load B
        __syncthreads(); // first barrier

        for (int i = 0; i < TILE; ++i)
            sum += A_s[ty][i] * B_s[i][tx]; // multiply
        __syncthreads(); // second barrier
    }

    if (row < m && col < n)
        C[row * n + col] = sum; // store C
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE, TILE);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C); // launch
}
