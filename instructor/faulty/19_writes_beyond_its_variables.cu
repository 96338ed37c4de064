/* FAULT 19: the wrapper keeps the last sixteen sizes in a list, and does not stop at sixteen: what
 * follows the list belongs to the program that runs it.
 *
 * finds:    tampering
 * says:     not kernel.cu's
 * hint:     pointer
 * loses:    everything */

#define TILE 16

long sizes[16];

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int j = blockIdx.x * TILE + threadIdx.x, i = blockIdx.y * TILE + threadIdx.y;
    if (i < m && j < n) {
        float dot = 0.0f;
        for (int l = 0; l < k; ++l)
            dot = fmaf(A[i * k + l], B[l * n + j], dot);
        C[i * n + j] = dot;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(m, n, k, A, B,
                                                                                       C);
    long *end = sizes + 64;
    for (long *size = sizes; size != end; ++size)
        *size = (long)m * n; /* <- here */
}
