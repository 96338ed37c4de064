/* CHEAT 17: the same through pinned memory.
 *
 * tries:    17
 * named:    calls cudaMallocHost | calls cudaHostAlloc */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

__global__ void copy(int count, const float *from, float *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        to[i] = from[i];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    float *a, *b, *c;
    cudaMallocHost(&a, sizeof(float) * m * k); /* <- here */
    cudaMallocHost(&b, sizeof(float) * k * n);
    cudaMallocHost(&c, sizeof(float) * m * n);
    copy<<<(m * k + 255) / 256, 256>>>(m * k, A, a);
    copy<<<(k * n + 255) / 256, 256>>>(k * n, B, b);
    cudaDeviceSynchronize();
    for (int i = 0; i < m * n; ++i)
        c[i] = 0.0f;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
            for (int p = 0; p < k; ++p)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
    copy<<<(m * n + 255) / 256, 256>>>(m * n, c, C);
}
