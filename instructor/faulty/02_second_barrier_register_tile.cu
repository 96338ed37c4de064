/* FAULT 2: the second barrier is missing in a kernel whose threads compute 2 x 2 elements each.
 *
 * finds:    shared-race
 * cause:    barrier-missing
 * variable: sA
 * element:  sA[15][7]
 * thread:   6 7
 * block:    0 0
 * other-thread: 7 7
 * says:     a __syncthreads() is missing at the end of the loop
 * hint:     overwrit
 * loses:    correct */

#define BLOCK 8           /* threads in x and in y */
#define WORK 2            /* rows and columns of each thread */
#define TILE (BLOCK * WORK)
#define DEPTH 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float sA[TILE][DEPTH];
    __shared__ float sB[DEPTH][TILE];

    int tx = threadIdx.x, ty = threadIdx.y, thread = ty * BLOCK + tx;
    int row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
    float acc[WORK][WORK] = {};

    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += BLOCK * BLOCK) {
            int r = row0 + i / DEPTH, ac = k0 + i % DEPTH;
            float value = 0.0f;
            if (r < m && ac < k)
                value = A[r * k + ac];
            sA[i / DEPTH][i % DEPTH] = value; /* <- other */
        }
        for (int i = thread; i < TILE * DEPTH; i += BLOCK * BLOCK) {
            int br = k0 + i / TILE, c = col0 + i % TILE;
            float value = 0.0f;
            if (br < k && c < n)
                value = B[br * n + c];
            sB[i / TILE][i % TILE] = value;
        }
        __syncthreads();

        for (int d = 0; d < DEPTH; ++d)
            for (int y = 0; y < WORK; ++y) {
                float a = sA[ty * WORK + y][d]; /* <- here */
                for (int x = 0; x < WORK; ++x)
                    acc[y][x] += a * sB[d][tx * WORK + x];
            }
    }

    for (int y = 0; y < WORK; ++y)
        for (int x = 0; x < WORK; ++x) {
            int r = row0 + ty * WORK + y, c = col0 + tx * WORK + x;
            if (r < m && c < n)
                C[r * n + c] = acc[y][x];
        }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(BLOCK, BLOCK)>>>(m, n, k, A,
                                                                                        B, C);
}
