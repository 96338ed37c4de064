/* RIGHT: the inner loop reads constants of four kinds and calls a virtual function: none of that is
 * a load of A or B. */

#define TILE_SIZE 16

__constant__ int dimensions[3];
__constant__ float ones[TILE_SIZE];
__device__ const float table[2] = {1.0f, 1.0f};

struct Product {
    __device__ virtual float of(float a, float b) const { return a * b; }
};
struct Scaled : Product {
    __device__ float of(float a, float b) const override { return ones[0] * a * b; }
};

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C,
                        const float *more) {
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;
    Scaled scaled;
    const Product *product = &scaled;

    for (int p = 0; p < dimensions[2]; p += TILE_SIZE) {
        A_s[ty][tx] = row < m && p + tx < k ? A[row * k + p + tx] : 0.0f;
        B_s[ty][tx] = p + ty < k && col < n ? B[(p + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE_SIZE; ++i)
            sum += product->of(A_s[ty][i], B_s[i][tx]) * ones[i] * table[i % 2] * more[i];
        __syncthreads();
    }
    if (row < dimensions[0] && col < dimensions[1]) C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);
    int sizes[3] = {m, n, k};
    float each_one[TILE_SIZE], *more;

    for (int i = 0; i < TILE_SIZE; ++i) each_one[i] = 1.0f;
    cudaMemcpyToSymbol(dimensions, sizes, sizeof sizes);
    cudaMemcpyToSymbol(ones, each_one, sizeof each_one);
    cudaMalloc(&more, sizeof each_one);
    cudaMemcpy(more, each_one, sizeof each_one, cudaMemcpyHostToDevice);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C, more);
    cudaFree(more);
}
