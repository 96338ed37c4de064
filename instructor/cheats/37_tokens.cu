/* CHEAT 37: expands to ten million tokens, to keep whatever reads the preprocessor's output busy.
 *
 * tries:    37
 * named:    time or memory */

#define X10(x) x x x x x x x x x x
#define X1000(x) X10(X10(X10(x)))
#define X10000000(x) X10(X1000(X1000(x)))
X10000000(;) /* <- here */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
