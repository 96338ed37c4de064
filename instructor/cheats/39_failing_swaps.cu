/* CHEAT 39: a naive kernel on copies of A and B, from which it loads by compare-and-swaps that fail.
 *
 * tries:    39
 * loses:    tiled
 * named:    loads */

__global__ void copy(float *to, const float *from, int elements)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements)
        to[i] = from[i];
}

__device__ float value(float *from)
{
    return __uint_as_float(atomicCAS((unsigned *)from, 0xFFFFFFFFu, 0u)); /* no float of A or B */
}

__global__ void mysgemm(int m, int n, int k, float *A, float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += value(&A[i * k + p]) * value(&B[p * n + j]);
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    float *a, *b;
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    cudaMalloc(&a, sizeof(float) * m * k);
    cudaMalloc(&b, sizeof(float) * k * n);
    copy<<<(m * k + 255) / 256, 256>>>(a, A, m * k);
    copy<<<(k * n + 255) / 256, 256>>>(b, B, k * n);
    mysgemm<<<grid, block>>>(m, n, k, a, b, C);
    cudaDeviceSynchronize();
    cudaFree(a);
    cudaFree(b);
}
