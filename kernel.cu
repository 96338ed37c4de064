/* Your code: fill in the two functions below. Leave all other files as they are.
 *
 *     C = A * B        A is m x k,  B is k x n,  C is m x n,  all row-major, all of float
 *
 * Build and run:   make && ./sgemm 1000 500 700        (m k n)
 * What to do, and why it works: handout.md */

#define TILE_SIZE 16

/* Runs on the GPU, once for every thread of the grid.
 *
 * m, n, k  dimensions, any of them from 1 upwards, multiples of TILE_SIZE or not
 * A, B     in device memory; read only
 * C        in device memory; every element is yours to write, once
 *
 * Each block computes one TILE_SIZE x TILE_SIZE tile of C, and its threads share tiles of A and B
 * in shared memory. */
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    /* INSERT KERNEL CODE HERE */
}

/* Runs on the CPU: chooses the block and the grid, and launches mysgemm.
 *
 * A, B, C are device memory, allocated and filled by main.cu, which also waits for the kernel. */
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    /* INSERT CODE HERE: how many threads in a block, how many blocks in the grid? */

    /* INSERT CODE HERE: launch mysgemm */
}
