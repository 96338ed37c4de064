/* RIGHT: each half of a warp computes an element of C, and adds up its lanes' parts in shared
 * memory with __syncwarp() for its own lanes. Lanes without a part of the sum store a zero for the
 * others and return before. */

#define HALF 16
#define HALVES 8 /* a block */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float part[HALVES][HALF];

    int lane = threadIdx.x, half = threadIdx.y;
    unsigned int mask = 0xFFFFu << half % 2 * HALF;
    int element = blockIdx.x * HALVES + half;
    if (element >= m * n) return;
    int row = element / n, col = element % n;

    if (lane >= k) {
        part[half][lane] = 0.0f;
        return;
    }
    float sum = 0.0f;
    for (int i = lane; i < k; i += HALF) sum += A[row * k + i] * B[i * n + col];
    part[half][lane] = sum;
    __syncwarp(mask);
    for (int left = HALF / 2; left > 0; left /= 2) {
        if (lane < left) part[half][lane] += part[half][lane + left];
        __syncwarp(mask);
    }
    if (lane == 0) C[element] = part[half][0];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<(m * n + HALVES - 1) / HALVES, dim3(HALF, HALVES)>>>(m, n, k, A, B, C);
}
