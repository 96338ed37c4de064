/* RIGHT: sizes in constant memory, and a __device__ array that is zero from the start. */

struct sizes {
    int m, n, k;
};

__constant__ sizes shape;
__device__ float zero[4];

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < shape.m && col < shape.n) {
        float sum = zero[col % 4];
        for (int i = 0; i < shape.k; ++i)
            sum += A[row * shape.k + i] * B[i * shape.n + col];
        C[row * shape.n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sizes host = {m, n, k};
    cudaMemcpyToSymbol(shape, &host, sizeof host);
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
