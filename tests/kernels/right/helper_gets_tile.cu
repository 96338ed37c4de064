/* RIGHT: tiles are passed to helpers: as pointers to float, as pointers to rows, as references. One
 * helper is a template, one is for both sides. Host variables are named gridDim and blockDim, and a
 * formatter has split the brackets of the launch. */

#define T 16

__host__ __device__ inline int tiles(int length) { return (length + T - 1) / T; }

template <typename Element>
__device__ __forceinline__ Element element(const Element *matrix, int rows, int cols, int row,
                                           int col) {
    return row < rows && col < cols ? matrix[row * cols + col] : Element(0);
}

__device__ void load(float *tile, int rows, int cols, int row, int col, const float *matrix) {
    float *place = tile + threadIdx.y * T + threadIdx.x;
    *place = element(matrix, rows, cols, row, col);
}

__device__ float term(const float (*a)[T], const float (&b)[T][T], int i) {
    return a[threadIdx.y][i] * b[i][threadIdx.x];
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float a[T][T], b[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    float sum = 0.0f;

    for (int phase = 0; phase < tiles(k); ++phase) {
        load(&a[0][0], m, k, row, phase * T + threadIdx.x, A);
        load((float *)b, k, n, phase * T + threadIdx.y, col, B);
        __syncthreads();
        for (int i = 0; i < T; ++i) sum += term(a, b, i);
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 gridDim(tiles(n), tiles(m)), blockDim(T, T);

    mysgemm<<<gridDim, blockDim>>>(m, n, k, A, B, C);
}
