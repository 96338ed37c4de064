/* FAULT 18: B is indexed with k as its row length; it has n columns. With k below n that stays
 * inside of B.
 *
 * finds:    wrong-result
 * cause:    row-length
 * shape:    35 20 70
 * says:     B read as if its rows had k (20) elements
 * fails:    34 20 40, 34 40 20
 * passes:   16 34 34, 128 256 256
 * explains: b-stride-k (34 20 40), reads-outside (34 40 20)
 * loses:    correct */

#define INDEX(row, col, width) ((row) * (width) + (col))

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const unsigned int i = blockIdx.y * blockDim.y + threadIdx.y;
    const unsigned int j = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < m && j < n) {
        float value = 0.0f;
        for (unsigned int p = 0; p < k; ++p)
            value += A[INDEX(i, p, k)] * B[INDEX(p, j, k)];
        C[INDEX(i, j, n)] = value;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const unsigned int BLOCK = 16;
    dim3 gridDim((n - 1) / BLOCK + 1, (m - 1) / BLOCK + 1), blockDim(BLOCK, BLOCK);
    mysgemm<<<gridDim, blockDim>>>(m, n, k, A, B, C);
}
