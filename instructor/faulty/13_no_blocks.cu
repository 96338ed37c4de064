/* FAULT 13: the grid is rounded down, in blocks of 64 threads a row: for 34 columns none is left.
 *
 * finds:    bad-launch
 * cause:    grid-too-small
 * shape:    34 34 34
 * says:     no blocks
 * loses:    correct */

#define WIDTH 64

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y, col = blockIdx.x * WIDTH + threadIdx.x;
    if (col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; ++i)
        sum += A[row * k + i] * B[i * n + col];
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 grid;
    grid.x = n / WIDTH;
    grid.y = m;
    mysgemm<<<grid, WIDTH>>>(m, n, k, A, B, C); /* <- here */
}
