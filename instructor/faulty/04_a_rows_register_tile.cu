/* FAULT 4: a thread computes four rows of one column; A's rows are not guarded.
 *
 * finds:    out-of-bounds
 * variable: A
 * element:  A[34][0]
 * thread:   0 0
 * block:    0 8
 * says:     row
 * loses:    memory */

#define COLS 32 /* of a block, one thread each */
#define ROWS 4  /* of a block, all computed by each thread */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int col = blockIdx.x * COLS + threadIdx.x, first = blockIdx.y * ROWS;
    if (col >= n)
        return;

    float sum[ROWS] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < k; ++i) {
        float b = B[i * n + col];
        for (int r = 0; r < ROWS; ++r)
            sum[r] += A[(first + r) * k + i] * b; /* <- here */
    }
    for (int r = 0; r < ROWS; ++r)
        if (first + r < m)
            C[(first + r) * n + col] = sum[r];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + COLS - 1) / COLS, (m + ROWS - 1) / ROWS), COLS>>>(m, n, k, A, B, C);
}
