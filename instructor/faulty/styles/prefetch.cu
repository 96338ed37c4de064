/* STYLE: two buffers: the first tiles are loaded before the loop, in which the next ones are loaded
 * while the last ones are multiplied. */

#define TILE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[2][TILE][TILE];
    __shared__ float B_s[2][TILE][TILE];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    const int phases = (k + TILE - 1) / TILE;
    float sum = 0.0f;

    A_s[0][ty][tx] = row < m && tx < k ? A[row * k + tx] : 0.0f;
    B_s[0][ty][tx] = ty < k && col < n ? B[ty * n + col] : 0.0f;
    __syncthreads();
    for (int phase = 0; phase < phases; ++phase) {
        const int now = phase % 2, next = 1 - now;
        if (phase + 1 < phases) {
            const int a_col = (phase + 1) * TILE + tx, b_row = (phase + 1) * TILE + ty;
            A_s[next][ty][tx] = row < m && a_col < k ? A[row * k + a_col] : 0.0f; // load A
            B_s[next][ty][tx] = b_row < k && col < n ? B[b_row * n + col] : 0.0f; // load B
        }
        for (int i = 0; i < TILE; ++i)
            sum += A_s[now][ty][i] * B_s[now][i][tx]; // multiply
        __syncthreads(); // first barrier
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
