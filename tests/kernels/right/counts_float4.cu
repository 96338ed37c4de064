/* RIGHT: tiles of 16 x 64 of B and 16 x 16 of A, loaded and stored four elements at once where m, n
 * and k are whole tiles; one thread computes four elements of C. Elsewhere one by one. */

#define ROWS 16
#define COLS 64
#define DEPTH 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float4 A_s[ROWS][DEPTH / 4];
    __shared__ float4 B_s[DEPTH][COLS / 4];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * ROWS + ty, col = blockIdx.x * COLS + 4 * tx;
    float4 sum = make_float4(0, 0, 0, 0);

    for (int phase = 0; phase < k / DEPTH; ++phase) {
        if (tx < DEPTH / 4) A_s[ty][tx] = *(const float4 *)&A[row * k + phase * DEPTH + 4 * tx];
        B_s[ty][tx] = *(const float4 *)&B[(phase * DEPTH + ty) * n + col];
        __syncthreads();

        for (int i = 0; i < DEPTH; ++i) {
            float a = ((const float *)A_s[ty])[i];
            float4 b = B_s[i][tx];
            sum.x += a * b.x;
            sum.y += a * b.y;
            sum.z += a * b.z;
            sum.w += a * b.w;
        }
        __syncthreads();
    }
    *(float4 *)&C[row * n + col] = sum;
}

__global__ void plain(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;

    if (row >= m || col >= n) return;
    for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(16, 16);
    if (m % ROWS == 0 && n % COLS == 0 && k % DEPTH == 0)
        mysgemm<<<dim3(n / COLS, m / ROWS), block>>>(m, n, k, A, B, C);
    else
        plain<<<dim3((n + 15) / 16, (m + 15) / 16), block>>>(m, n, k, A, B, C);
}
