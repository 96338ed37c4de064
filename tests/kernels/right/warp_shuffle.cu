/* RIGHT: a warp computes one element of C: each lane every 32nd term, then a tree of shuffles. */

#define WARP 32
#define WARPS 4 /* a block */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int element = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
    if (element >= m * n) return;
    int row = element / n, col = element % n;

    float sum = 0.0f;
    for (int i = lane; i < k; i += WARP) sum += A[row * k + i] * B[i * n + col];
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, offset);
    if (lane == 0) C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<(m * n + WARPS - 1) / WARPS, dim3(WARP, WARPS)>>>(m, n, k, A, B, C);
}
