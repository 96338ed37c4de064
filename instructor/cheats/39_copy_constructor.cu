/* CHEAT 39: a naive kernel whose loads are made where its argument is copied.
 *
 * tries:    39
 * loses:    tiled
 * named:    loads */

struct Product {
    int m, n, k;
    const float *A, *B;
    float *C, sum;
    Product(int m, int n, int k, const float *A, const float *B, float *C)
        : m(m), n(n), k(k), A(A), B(B), C(C), sum(0.0f) {}
    __forceinline__ __host__ __device__ Product(const Product &from)
        : m(from.m), n(from.n), k(from.k), A(from.A), B(from.B), C(from.C), sum(0.0f)
    {
        int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < m && j < n && blockDim.x == 16)
            for (int p = 0; p < k; ++p)
                sum += A[i * k + p] * B[p * n + j];
    }
};

__global__ void mysgemm(Product product)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < product.m && j < product.n)
        product.C[i * product.n + j] = product.sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(Product(m, n, k, A, B, C));
}
