/* FAULT 6: rows and columns are counted from 1, and 1 is taken off C's column twice. The first
 * element is stored before C.
 *
 * finds:    out-of-bounds
 * cause:    off-by-one
 * variable: C
 * thread:   0 0
 * block:    0 0
 * says:     before
 * fails:    34 20 34, 1 1 1
 * reports:  1 float just before C was overwritten
 * loses:    correct */

#define BLOCK 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * BLOCK + threadIdx.y + 1;
    int j = blockIdx.x * BLOCK + threadIdx.x + 1;

    if (i <= m && j <= n) {
        float sum = 0.0f;
        for (int p = 1; p <= k; ++p)
            sum += A[(i - 1) * k + (p - 1)] * B[(p - 1) * n + (j - 1)];
        C[(i - 1) * n + (j - 1) - 1] = sum; /* <- here */
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + BLOCK - 1) / BLOCK, (m + BLOCK - 1) / BLOCK), dim3(BLOCK, BLOCK)>>>(
        m, n, k, A, B, C);
}
