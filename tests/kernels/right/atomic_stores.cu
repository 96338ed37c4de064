/* RIGHT: C is stored by atomicExch, whose result nobody uses: a store. So are the first exchange of
 * `loaded`, an atomicAnd with 0 and an atomicOr with all bits. */

#define TILE_SIZE 16

__device__ void clear(unsigned *word) { atomicExch(word, 0u); }

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float A_s[TILE_SIZE][TILE_SIZE], B_s[TILE_SIZE][TILE_SIZE];
    __shared__ unsigned loaded, none, all;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty, col = blockIdx.x * TILE_SIZE + tx;

    if (tx == 0 && ty == 0) {
        clear(&loaded);
        atomicAnd(&none, 0u);
        atomicOr(&all, ~0u);
    }
    __syncthreads();
    float sum = 0.0f;
    for (int i = 0; i < k; i += TILE_SIZE) {
        A_s[ty][tx] = row < m && i + tx < k ? A[row * k + i + tx] : 0.0f;
        B_s[ty][tx] = i + ty < k && col < n ? B[(i + ty) * n + col] : 0.0f;
        atomicAdd(&loaded, 1u);
        __syncthreads();
        for (int j = 0; j < TILE_SIZE; ++j) sum += A_s[ty][j] * B_s[j][tx];
        __syncthreads();
    }
    unsigned phases = (k + TILE_SIZE - 1) / TILE_SIZE;
    if (loaded != phases * TILE_SIZE * TILE_SIZE || none != ~all) return;
    if (row < m && col < n) atomicExch(&C[row * n + col], sum);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
