/* FAULT 20: the tiles are filled by asynchronous copies, and between these and the reads there is a
 * barrier, but no thread waits for the copies.
 *
 * finds:    shared-race
 * variable: A_s
 * element:  A_s[15][0]
 * thread:   15 15
 * block:    0 0
 * other-thread: 0 15
 * phase:    0 of 3
 * says:     asynchronous copy
 * hint:     __pipeline_wait_prior
 * loses:    correct */

#include <cuda_pipeline.h>

#define TILE_SIZE 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float A_s[TILE_SIZE][TILE_SIZE];
    __shared__ float B_s[TILE_SIZE][TILE_SIZE];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE_SIZE + ty;
    int col = blockIdx.x * TILE_SIZE + tx;
    float sum = 0.0f;

    for (int phase = 0; phase < (k + TILE_SIZE - 1) / TILE_SIZE; ++phase) {
        int a_col = phase * TILE_SIZE + tx;
        int b_row = phase * TILE_SIZE + ty;
        bool in_a = row < m && a_col < k, in_b = b_row < k && col < n;
        const float *a = in_a ? &A[row * k + a_col] : A, *b = in_b ? &B[b_row * n + col] : B;

        __pipeline_memcpy_async(&A_s[ty][tx], a, 4, in_a ? 0 : 4); /* <- other */
        __pipeline_memcpy_async(&B_s[ty][tx], b, 4, in_b ? 0 : 4);
        __pipeline_commit();
        __syncthreads();

        for (int i = 0; i < TILE_SIZE; ++i) {
            float x = A_s[ty][i]; /* <- here */
            float y = B_s[i][tx];
            sum += x * y;
        }
        __syncthreads();
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
