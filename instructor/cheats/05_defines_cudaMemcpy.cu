/* CHEAT 5: defines cudaMemcpy, with which the result is fetched.
 *
 * tries:    5
 * named:    defines cudaMemcpy */

extern "C" cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind) /* <- here */
{
    return cudaSuccess;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
