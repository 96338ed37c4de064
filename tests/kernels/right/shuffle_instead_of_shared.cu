/* RIGHT: a warp holds a row of A's tile in registers and hands its terms round with shuffles. */

#define WARP 32

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int lane = threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * WARP + lane;
    float sum = 0.0f;

    for (int start = 0; start < k; start += WARP) {
        float a = row < m && start + lane < k ? A[row * k + start + lane] : 0.0f;
        for (int i = 0; i < WARP; ++i) {
            float b = start + i < k && col < n ? B[(start + i) * n + col] : 0.0f;
            sum += __shfl_sync(0xffffffff, a, i) * b;
        }
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + WARP - 1) / WARP, (m + 3) / 4), dim3(WARP, 4)>>>(m, n, k, A, B, C);
}
