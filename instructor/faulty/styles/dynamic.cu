/* STYLE: dynamic shared memory; a tile is as wide as the block. */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    extern __shared__ float tiles[];
    int width = blockDim.x;
    float *sA = tiles;
    float *sB = tiles + width * width;

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * blockDim.y + ty;
    int col = blockIdx.x * blockDim.x + tx;
    float acc = 0.0f;

    for (int t = 0; t < (k + width - 1) / width; t++) {
        int ac = t * width + tx;
        int br = t * width + ty;
        sA[ty * width + tx] = (row < m && ac < k) ? A[row * k + ac] : 0.0f; // load A
        sB[ty * width + tx] = (br < k && col < n) ? B[br * n + col] : 0.0f; // load B
        __syncthreads(); // first barrier
        for (int p = 0; p < width; p++)
            acc += sA[ty * width + p] * sB[p * width + tx]; // multiply
        __syncthreads(); // second barrier
    }
    if (row < m && col < n) {
        C[row * n + col] = acc; // store C
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const int width = 16;
    dim3 block(width, width);
    dim3 grid((n + width - 1) / width, (m + width - 1) / width);
    size_t bytes = 2 * width * width * sizeof(float);
    mysgemm<<<grid, block, bytes>>>(m, n, k, A, B, C); // launch
}
