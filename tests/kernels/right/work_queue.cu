/* RIGHT: blocks take tiles of C from a queue, an atomic counter; the last one to find it empty, by
 * the number that it gets, sets it back with a plain store. */

#define TILE_SIZE 8
#define BLOCKS 3

__device__ unsigned int next;

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ unsigned int tile;

    unsigned int across = (n + TILE_SIZE - 1) / TILE_SIZE;
    unsigned int tiles = across * ((m + TILE_SIZE - 1) / TILE_SIZE);
    for (;;) {
        if (threadIdx.x == 0 && threadIdx.y == 0) {
            tile = atomicAdd(&next, 1u);
            if (tile == tiles + BLOCKS - 1)
                next = 0;
        }
        __syncthreads();
        if (tile >= tiles)
            break;
        int row = tile / across * TILE_SIZE + threadIdx.y;
        int col = tile % across * TILE_SIZE + threadIdx.x;
        if (row < m && col < n) {
            float sum = 0.0f;
            for (int i = 0; i < k; ++i)
                sum += A[row * k + i] * B[i * n + col];
            C[row * n + col] = sum;
        }
        __syncthreads();
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<BLOCKS, dim3(TILE_SIZE, TILE_SIZE)>>>(m, n, k, A, B, C);
}
