/* FAULT 1: a warp adds up its partial sums in shared memory and relies on its lanes running in
 * lockstep, which they have not done since Volta.
 *
 * finds:    shared-race
 * variable: lane_sum
 * element:  lane_sum[0][1]
 * thread:   0 0
 * block:    0 0
 * other-thread: 1 0
 * hint:     stored
 * loses:    correct */

#define WARP 32
#define WARPS 4

__device__ float reduce(float *lane_sum, int lane)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2)
        if (lane < offset) {
            float other = lane_sum[lane + offset]; /* <- here */
            lane_sum[lane] += other;
        }
    return lane_sum[0];
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float lane_sum[WARPS][WARP];

    int lane = threadIdx.x, warp = threadIdx.y;
    int element = blockIdx.x * WARPS + warp;
    if (element >= m * n)
        return;
    int row = element / n, col = element % n;

    float sum = 0.0f;
    for (int i = lane; i < k; i += WARP)
        sum += A[row * k + i] * B[i * n + col];
    lane_sum[warp][lane] = sum; /* <- other */

    sum = reduce(lane_sum[warp], lane);
    if (lane == 0)
        C[element] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<(m * n + WARPS - 1) / WARPS, dim3(WARP, WARPS)>>>(m, n, k, A, B, C);
}
