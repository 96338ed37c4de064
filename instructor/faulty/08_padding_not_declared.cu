/* FAULT 8: A's tile is addressed with one column of padding, which its declaration lacks.
 *
 * finds:    shared-out-of-bounds
 * cause:    tile-size
 * variable: A_s
 * element:  A_s[256]
 * thread:   1 15
 * block:    0 0
 * loses:    memory */

#define TILE_SIZE 16
#define STRIDE (TILE_SIZE + 1)

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE_SIZE * TILE_SIZE];
    __shared__ float B_s[TILE_SIZE * TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int phase = 0; phase < (k + TILE_SIZE - 1) / TILE_SIZE; ++phase) {
        int a_col = phase * TILE_SIZE + tx;
        int b_row = phase * TILE_SIZE + ty;
        float a = row < m && a_col < k ? A[row * k + a_col] : 0.0f;
        float b = b_row < k && col < n ? B[b_row * n + col] : 0.0f;

        A_s[ty * STRIDE + tx] = a; /* <- here */
        B_s[ty * TILE_SIZE + tx] = b;
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; ++i)
            sum += A_s[ty * STRIDE + i] * B_s[i * TILE_SIZE + tx];
        __syncthreads();
    }

    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
