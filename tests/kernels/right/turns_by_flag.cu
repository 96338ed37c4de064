/* RIGHT: blocks add their parts of the sum one after the other: a volatile flag, set behind a
 * fence, tells whose turn it is. */

#define TILE_SIZE 8
#define PARTS 3
#define TILES 65536

__device__ int turn[TILES]; /* which part may be added next */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
    volatile int *mine = &turn[(blockIdx.y * gridDim.x + blockIdx.x) % TILES];
    bool first = threadIdx.x == 0 && threadIdx.y == 0;
    float sum = 0.0f;

    if (row < m && col < n)
        for (int i = blockIdx.z; i < k; i += PARTS) sum += A[row * k + i] * B[i * n + col];
    if (first) {
        while (*mine != blockIdx.z) __nanosleep(20);
        __threadfence();
    }
    __syncthreads();
    if (row < m && col < n) C[row * n + col] = blockIdx.z > 0 ? C[row * n + col] + sum : sum;
    __syncthreads();
    if (first) {
        __threadfence();
        *mine = (blockIdx.z + 1) % PARTS;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE, PARTS);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
