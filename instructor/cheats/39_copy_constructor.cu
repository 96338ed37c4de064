/* CHEAT 39: a naive kernel whose loads are made where its argument is copied.
 *
 * tries:    39
 * loses:    tiled
 * named:    loads */

struct Arguments {
    int m, n, k;
    const float *A, *B;
    float *C;
};

struct Product : Arguments {
    float sum;
    __forceinline__ __device__ Product(const Arguments &from) : Arguments(from), sum(0.0f)
    {
        int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < m && j < n)
            for (int p = 0; p < k; ++p)
                sum += A[i * k + p] * B[p * n + j];
    }
};

__global__ void mysgemm(Arguments arguments)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    Product product(arguments);
    if (i < product.m && j < product.n)
        product.C[i * product.n + j] = product.sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(Arguments{m, n, k, A, B, C});
}
