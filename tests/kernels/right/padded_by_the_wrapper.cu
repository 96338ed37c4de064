/* RIGHT: the wrapper has CUDA copy A, and a kernel copy B, into memory of whole tiles with zeros
 * around them; one kernel multiplies whole tiles without guards, and one cuts C out. */

#define TILE 16

__global__ void copy(int rows, int cols, int from_rows, int from_cols, const float *from,
                     int to_cols, float *to) {
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    if (row < rows && col < cols)
        to[row * to_cols + col] =
            row < from_rows && col < from_cols ? from[row * from_cols + col] : 0.0f;
}

__global__ void mysgemm(int n, int k, const float *A, const float *B, float *C) {
    __shared__ float A_s[TILE][TILE], B_s[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty, col = blockIdx.x * TILE + tx;
    float sum = 0.0f;

    for (int p = 0; p < k; p += TILE) {
        A_s[ty][tx] = A[row * k + p + tx];
        B_s[ty][tx] = B[(p + ty) * n + col];
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += A_s[ty][i] * B_s[i][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}

static int whole(int size) { return (size + TILE - 1) / TILE * TILE; }

static float *room(int rows, int cols) {
    float *made;
    cudaMalloc(&made, (size_t)rows * cols * sizeof(float));
    return made;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int M = whole(m), N = whole(n), K = whole(k);
    float *A_padded = room(M, K), *B_padded = room(K, N), *C_padded = room(M, N);
    size_t width = k * sizeof(float), pitch = K * sizeof(float);
    dim3 block(TILE, TILE), grid(N / TILE, M / TILE);

    cudaMemset(A_padded, 0, M * pitch);
    cudaMemcpy2D(A_padded, pitch, A, width, width, m, cudaMemcpyDeviceToDevice);
    copy<<<dim3(N / TILE, K / TILE), block>>>(K, N, k, n, B, N, B_padded);
    mysgemm<<<grid, block>>>(N, K, A_padded, B_padded, C_padded);
    copy<<<grid, block>>>(m, n, M, N, C_padded, n, C);
    cudaFree(A_padded);
    cudaFree(B_padded);
    cudaFree(C_padded);
}
