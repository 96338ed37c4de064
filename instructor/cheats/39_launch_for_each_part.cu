/* CHEAT 39: a naive kernel in eight launches, each of which stores all of C, and adds an eighth of the
 * products to what the one before it has left there.
 *
 * tries:    39
 * loses:    tiled
 * named:    count as tiled */

#define PARTS 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C, int first,
                        int end)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = first ? C[i * n + j] : 0.0f; /* <- here */
        for (int p = first; p < end; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    int part = (k + PARTS - 1) / PARTS;
    for (int first = 0; first < k; first += part)
        mysgemm<<<grid, block>>>(m, n, k, A, B, C, first, first + part < k ? first + part : k);
}
