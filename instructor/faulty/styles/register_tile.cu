/* STYLE: a thread computes 2 x 2 elements of C, in registers, 16 rows and columns apart. */

#define THREADS 16 /* in x and in y */
#define PER 2      /* elements of C for each thread, in each direction */
#define TILE 32    /* THREADS * PER */
#define DEPTH 16   /* columns of A's tile, rows of B's */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE][DEPTH];
    __shared__ float B_s[DEPTH][TILE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    float sum[PER][PER] = {};

    for (int p = 0; p < k; p += DEPTH) {
        for (int i = ty; i < TILE; i += THREADS) {
            bool inside = row0 + i < m && p + tx < k;
            A_s[i][tx] = inside ? A[(row0 + i) * k + p + tx] : 0.0f; // load A
        }
        for (int j = tx; j < TILE; j += THREADS) {
            bool inside = p + ty < k && col0 + j < n;
            B_s[ty][j] = inside ? B[(p + ty) * n + col0 + j] : 0.0f; // load B
        }
        __syncthreads(); // first barrier
        for (int q = 0; q < DEPTH; ++q)
            for (int i = 0; i < PER; ++i)
                for (int j = 0; j < PER; ++j)
                    sum[i][j] += A_s[ty + i * THREADS][q] * B_s[q][tx + j * THREADS]; // multiply
        __syncthreads(); // second barrier
    }

    for (int i = 0; i < PER; ++i)
        for (int j = 0; j < PER; ++j) {
            int row = row0 + ty + i * THREADS, col = col0 + tx + j * THREADS;
            if (row < m && col < n)
                C[row * n + col] = sum[i][j]; // store C
        }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(THREADS, THREADS);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C); // launch
}
