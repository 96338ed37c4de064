/* RIGHT: blocks take turns to add their parts to C, under a lock for each tile of C. */

#define TILE_SIZE 8
#define PARTS 2

__device__ void lock(int *mutex) {
    while (atomicCAS(mutex, 0, 1) != 0)
        ;
    __threadfence();
}

__device__ void unlock(int *mutex) {
    __threadfence();
    atomicExch(mutex, 0);
}

__device__ int mutexes[16384];

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int *mutex = &mutexes[(blockIdx.y * gridDim.x + blockIdx.x) % 16384];

    float sum = 0.0f;
    if (row < m && col < n)
        for (int i = blockIdx.z; i < k; i += PARTS) sum += A[row * k + i] * B[i * n + col];

    if (threadIdx.x == 0 && threadIdx.y == 0) lock(mutex);
    __syncthreads();
    if (row < m && col < n) C[row * n + col] += sum;
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0) unlock(mutex);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE, PARTS);

    cudaMemset(C, 0, sizeof(float) * m * n);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
