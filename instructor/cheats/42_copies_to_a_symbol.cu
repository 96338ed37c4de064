/* CHEAT 42: a naive kernel whose first thread has CUDA's runtime copy over what lies behind this
 * file's variables, the checker's counts and findings among it.
 *
 * tries:    42
 * named:    calling a __host__ function (cudaMemcpyToSymbol) */

struct much {
    char bytes[4096];
};

__device__ float nothing[2048];

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
    if (i == 0 && j == 0)
        cudaMemcpyToSymbol(*(much *)(nothing + 2048), nothing, sizeof(much)); /* <- here */
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
