/* RIGHT: a __device__ variable is filled from device memory, where a kernel has prepared it; memory
 * comes and goes on a stream, and CUDA proposes the block of the kernel that prepares. */

struct sizes {
    int m, n, k;
};

__device__ sizes shape;

__global__ void prepare(sizes *prepared, int m, int n, int k)
{
    if (threadIdx.x == 0)
        *prepared = {m, n, k};
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[16][16], B_s[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;

    for (int t = 0; t < shape.k; t += 16) {
        int p = t + threadIdx.x, q = t + threadIdx.y;
        A_s[threadIdx.y][threadIdx.x] = row < shape.m && p < shape.k ? A[row * shape.k + p] : 0.0f;
        B_s[threadIdx.y][threadIdx.x] = q < shape.k && col < shape.n ? B[q * shape.n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; ++i)
            sum += A_s[threadIdx.y][i] * B_s[i][threadIdx.x];
        __syncthreads();
    }
    if (row < shape.m && col < shape.n)
        C[row * shape.n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    sizes *prepared;
    int grid, block;
    cudaOccupancyMaxPotentialBlockSize(&grid, &block, prepare, 0, 32);
    cudaMallocAsync(&prepared, sizeof *prepared, 0);
    prepare<<<1, block>>>(prepared, m, n, k);
    cudaMemcpyToSymbol(shape, prepared, sizeof *prepared, 0, cudaMemcpyDeviceToDevice);
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
    cudaFreeAsync(prepared, 0);
}
