/* FAULT 3: threads below the last row return before the loop, written with macros and tiles of 32.
 * Their part of B's tile is missing.
 *
 * finds:    early-return
 * variable: subB
 * element:  subB[2][31]
 * thread:   0 2
 * block:    0 1
 * other-thread: 31 1
 * phase:    0 of 2
 * says:     the 960 threads with threadIdx.y >= 2 had returned
 * loses:    correct */

#define BS 32
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define AT(matrix, cols, i, j) (matrix)[(i) * (cols) + (j)]

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float subA[BS][BS];
    __shared__ float subB[BS][BS];

    int i = blockIdx.y * BS + threadIdx.y, j = blockIdx.x * BS + threadIdx.x;
    if (i >= m)
        return;

    float c = 0.0f;
    for (int p = 0; p < k; p += BS) {
        int aj = p + threadIdx.x, bi = p + threadIdx.y;
        subA[threadIdx.y][threadIdx.x] = aj < k ? AT(A, k, i, aj) : 0.0f;
        subB[threadIdx.y][threadIdx.x] = bi < k && j < n ? AT(B, n, bi, j) : 0.0f;
        __syncthreads(); /* <- here */
        for (int q = 0; q < BS; ++q)
            c = fmaf(subA[threadIdx.y][q], subB[q][threadIdx.x], c); /* <- other */
        __syncthreads();
    }
    if (j < n)
        AT(C, n, i, j) = c;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3(CEIL_DIV(n, BS), CEIL_DIV(m, BS)), dim3(BS, BS)>>>(m, n, k, A, B, C);
}
