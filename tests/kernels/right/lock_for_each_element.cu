/* RIGHT: each element of C has a lock, and each thread takes it to add its part. */

#define TILE_SIZE 8
#define LOCKS 16384

__device__ int locks[LOCKS];

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y * TILE_SIZE + threadIdx.y, col = blockIdx.x * TILE_SIZE + threadIdx.x;
    if (row >= m || col >= n) return;
    int *lock = &locks[(row * n + col) % LOCKS];
    float sum = 0.0f;
    for (int i = blockIdx.z; i < k; i += gridDim.z) sum += A[row * k + i] * B[i * n + col];

    bool done = false;
    while (!done) {
        if (atomicExch(lock, 1) == 0) {
            __threadfence();
            C[row * n + col] += sum;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE, 3);

    cudaMemset(C, 0, sizeof(float) * m * n);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
