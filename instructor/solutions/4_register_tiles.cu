/* Register tiles: each thread computes 4 x 4 elements of C, and keeps them in registers.
 *
 * A block of 16 x 16 threads computes a 64 x 64 tile of C. For each of the DEPTH terms of a phase a
 * thread takes 4 values of A and 4 of B from shared memory into registers, and makes 16 multiplies
 * and adds of these 8: half a value each, where 2_tiled.cu needs two and 3_tiled_32.cu one and a
 * quarter. The larger tile also halves what comes from global memory once more: 16 operations a
 * byte.
 *
 * A thread's elements lie 16 apart, not side by side: so neighboring threads still touch
 * neighboring elements, in each load and each store.
 *
 * What limits it: 8 instructions that load for 16 that compute, and every one of them waits for
 * its own line of shared memory. 5_vector_loads.cu makes the loads wider and the tiles larger.
 *
 * intensity: 16 FLOP/byte
 * loses:    nothing */

#define THREADS 16           /* of a block, in x and in y */
#define EACH    4            /* rows, and columns, of C that a thread computes */
#define TILE    (THREADS * EACH)
#define DEPTH   16           /* terms of a phase */

static_assert(DEPTH == THREADS, "thread (x, y) loads column x of A's tile and row y of B's");

__global__ void mysgemm(int m, int n, int k, float alpha, const float *A, const float *B,
                        float beta, float *C)
{
    __shared__ float A_s[TILE][DEPTH];
    __shared__ float B_s[DEPTH][TILE + 16]; /* a warp stores to two rows: 16 banks apart, then */

    int tx = threadIdx.x, ty = threadIdx.y;
    int first_row = blockIdx.y * TILE + ty; /* this thread's; the others are THREADS further each */
    int first_col = blockIdx.x * TILE + tx;
    float sum[EACH][EACH] = {};

    for (int start = 0; start < k; start += DEPTH) {
        int a_col = start + tx;
        int b_row = start + ty;

        for (int e = 0; e < EACH; ++e) {
            int row = first_row + e * THREADS, col = first_col + e * THREADS;
            A_s[ty + e * THREADS][tx] = row < m && a_col < k ? A[row * k + a_col] : 0.0f;
            B_s[ty][tx + e * THREADS] = b_row < k && col < n ? B[b_row * n + col] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int i = 0; i < DEPTH; ++i) {
            float a[EACH], b[EACH];
            for (int e = 0; e < EACH; ++e) {
                a[e] = A_s[ty + e * THREADS][i];
                b[e] = B_s[i][tx + e * THREADS];
            }
            for (int r = 0; r < EACH; ++r)
                for (int c = 0; c < EACH; ++c)
                    sum[r][c] += a[r] * b[c];
        }
        __syncthreads();
    }

    for (int r = 0; r < EACH; ++r)
        for (int c = 0; c < EACH; ++c) {
            int row = first_row + r * THREADS, col = first_col + c * THREADS;
            if (row < m && col < n) {
                float *to = &C[row * n + col];
                *to = beta == 0.0f ? alpha * sum[r][c] : alpha * sum[r][c] + beta * *to;
            }
        }
}

void sgemm(int m, int n, int k, float alpha, const float *A, const float *B, float beta, float *C)
{
    const int most_rows = 65535 * TILE; /* a grid has at most 65,535 blocks in y */
    if (m > most_rows) {
        sgemm(m - most_rows, n, k, alpha, A + (size_t)most_rows * k, B, beta,
              C + (size_t)most_rows * n);
        m = most_rows;
    }

    dim3 block(THREADS, THREADS);
    dim3 grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);

    mysgemm<<<grid, block>>>(m, n, k, alpha, A, B, beta, C);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sgemm(m, n, k, 1.0f, A, B, 0.0f, C);
}
