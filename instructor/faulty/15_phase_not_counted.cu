/* FAULT 15: a loop over the phases, with barriers, in which the phase is counted only where the
 * tile is full.
 *
 * finds:    endless
 * options:  --timeout 0.3
 * loses:    correct */

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    int start = 0;
    while (start < k) { /* <- here */
        A_s[ty][tx] = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f; /* <- here */
        B_s[ty][tx] = start + ty < k && col < n ? B[(start + ty) * n + col] : 0.0f; /* <- here */
        __syncthreads(); /* <- here */
        for (int i = 0; i < TILE_SIZE; ++i) /* <- here */
            sum += A_s[ty][i] * B_s[i][tx]; /* <- here */
        __syncthreads(); /* <- here */
        if (start + TILE_SIZE <= k) /* <- here */
            start += TILE_SIZE; /* <- here */
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
