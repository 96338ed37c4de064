/* FAULT 20: two buffers, filled by asynchronous copies. The barrier at a phase's end is missing:
 * the copies for the phase after the next begin while other threads read that buffer.
 *
 * finds:    shared-race
 * variable: As
 * element:  As[0][15][15]
 * thread:   14 15
 * block:    0 0
 * other-thread: 15 15
 * hint:     overwrit
 * loses:    memory */
#include <cuda_pipeline.h>

#define TILE_SIZE 16

__device__ void fetch(float *to, const float *matrix, bool inside, int element)
{
    const float *from = inside ? matrix + element : matrix;
    __pipeline_memcpy_async(to, from, 4, inside ? 0 : 4); /* <- other */
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float As[2][TILE_SIZE][TILE_SIZE];
    __shared__ float Bs[2][TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    int phases = (k + TILE_SIZE - 1) / TILE_SIZE;
    float sum = 0.0f;

    for (int phase = -1; phase < phases; ++phase) {
        int next = phase + 1, a_col = next * TILE_SIZE + tx, b_row = next * TILE_SIZE + ty;
        if (next < phases) {
            fetch(&As[next % 2][ty][tx], A, row < m && a_col < k, row * k + a_col);
            fetch(&Bs[next % 2][ty][tx], B, b_row < k && col < n, b_row * n + col);
        }
        __pipeline_commit();
        if (phase < 0)
            continue;
        __pipeline_wait_prior(1);
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; ++i) {
            float a = As[phase % 2][ty][i]; /* <- here */
            float b = Bs[phase % 2][i][tx];
            sum += a * b;
        }
    }

    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
