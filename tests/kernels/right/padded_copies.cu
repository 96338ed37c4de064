/* RIGHT: the wrapper has CUDA copy A and B into memory of whole tiles, with zeros around them, and
 * the kernel needs no guards when it loads. */

#define TILE 16

__global__ void mysgemm(int m, int n, int width, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE][TILE], B_s[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int p = 0; p < k; p += TILE) {
        A_s[ty][tx] = A[row * k + p + tx];
        B_s[ty][tx] = B[(p + ty) * width + col];
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += A_s[ty][i] * B_s[i][tx];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

static int whole(int size) { return (size + TILE - 1) / TILE * TILE; }

static float *padded(int rows, int cols, const float *matrix)
{
    size_t pitch = whole(cols) * sizeof(float), bytes = whole(rows) * pitch;
    float *copy;
    cudaMalloc(&copy, bytes);
    cudaMemset(copy, 0, bytes);
    cudaMemcpy2D(copy, pitch, matrix, cols * sizeof(float), cols * sizeof(float), rows,
                 cudaMemcpyDeviceToDevice);
    return copy;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    float *A_padded = padded(m, k, A), *B_padded = padded(k, n, B);
    dim3 block(TILE, TILE), grid(whole(n) / TILE, whole(m) / TILE);
    mysgemm<<<grid, block>>>(m, n, whole(n), whole(k), A_padded, B_padded, C);
    cudaFree(A_padded);
    cudaFree(B_padded);
}
