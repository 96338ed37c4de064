/* FAULT 8: a helper gets a pointer to a tile and steps through it a row too far. Its argument is a
 * plain float pointer, so no declaration says where the tile ends.
 *
 * finds:    shared-out-of-bounds
 * variable: tile
 * element:  tile[527]
 * thread:   15 15
 * block:    0 0
 * loses:    memory */

#define T 16

__device__ float column_times_row(const float *a_row, const float *b_column)
{
    float sum = 0.0f;
    for (int i = 0; i <= T; ++i) {
        float b = b_column[i * T]; /* <- here */
        sum += (i < T ? a_row[i] : 0.0f) * b;
    }
    return sum;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float tile[2 * T * T];
    float *a_s = tile, *b_s = tile + T * T;

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;

    for (int start = 0; start < k; start += T) {
        a_s[ty * T + tx] = row < m && start + tx < k ? A[row * k + start + tx] : 0.0f;
        b_s[ty * T + tx] = start + ty < k && col < n ? B[(start + ty) * n + col] : 0.0f;
        __syncthreads();
        sum += column_times_row(&a_s[ty * T], &b_s[tx]);
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
