/* RIGHT: a few blocks stay, and fetch one tile of C after the other by an atomic counter; the last
 * one to find no more, by the number that it gets, sets it back with a plain store. A warm-up and
 * ten more launches, as for a mean time. */

#define TILE_SIZE 16
#define BLOCKS 8

__device__ int next_tile;

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];
    __shared__ int tile;

    int tx = threadIdx.x, ty = threadIdx.y;
    int across = (n + TILE_SIZE - 1) / TILE_SIZE,
        tiles = across * ((m + TILE_SIZE - 1) / TILE_SIZE);

    for (;;) {
        if (tx == 0 && ty == 0) {
            tile = atomicAdd(&next_tile, 1);
            if (tile == tiles + BLOCKS - 1) next_tile = 0;
        }
        __syncthreads();
        int mine = tile;
        __syncthreads();
        if (mine >= tiles) break;
        int row = mine / across * TILE_SIZE + ty, col = mine % across * TILE_SIZE + tx;
        float sum = 0.0f;
        for (int p = 0; p < k; p += TILE_SIZE) {
            A_s[ty][tx] = row < m && p + tx < k ? A[row * k + p + tx] : 0.0f;
            B_s[ty][tx] = p + ty < k && col < n ? B[(p + ty) * n + col] : 0.0f;
            __syncthreads();
            for (int i = 0; i < TILE_SIZE; ++i) sum += A_s[ty][i] * B_s[i][tx];
            __syncthreads();
        }
        if (row < m && col < n) C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);

    mysgemm<<<BLOCKS, block>>>(m, n, k, A, B, C);
    cudaDeviceSynchronize();
    for (int i = 0; i < 10; ++i) mysgemm<<<BLOCKS, block>>>(m, n, k, A, B, C);
    cudaDeviceSynchronize();
}
