/* FAULT 10: parts of the sum are added to C atomically, and C was not cleared before.
 *
 * finds:    uninitialized-global
 * variable: C
 * element:  C[0][0]
 * thread:   0 0
 * block:    0 0
 * loses:    correct */

#define BX 32
#define BY 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * BY + threadIdx.y, col = blockIdx.x * BX + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = blockIdx.z; i < k; i += gridDim.z)
            sum += A[row * k + i] * B[i * n + col];
        atomicAdd(C + row * n + col, sum); /* <- here */
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid((n + BX - 1) / BX, (m + BY - 1) / BY, 2), block(BX, BY);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
