/* STYLE: tiles of 32; a macro for the index, a while loop. */

#define N_THREADS 32
#define AT(row, col, width) ((row) * (width) + (col))

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float part_of_a[N_THREADS][N_THREADS], part_of_b[N_THREADS][N_THREADS];
    const int my_row = threadIdx.y, my_col = threadIdx.x;
    const int row = blockIdx.y * N_THREADS + my_row;
    const int col = blockIdx.x * N_THREADS + my_col;

    float result = 0.0f;
    int start = 0;
    while (start < k) {
        float a = 0.0f, b = 0.0f;
        if (row < m && start + my_col < k)
            a = A[AT(row, start + my_col, k)]; // load A
        if (start + my_row < k && col < n)
            b = B[AT(start + my_row, col, n)]; // load B
        part_of_a[my_row][my_col] = a; // fill A's tile
        part_of_b[my_row][my_col] = b; // fill B's tile
        __syncthreads(); // first barrier
        for (int i = 0; i < N_THREADS; ++i)
            result += part_of_a[my_row][i] * part_of_b[i][my_col]; // multiply
        __syncthreads(); // second barrier
        start += N_THREADS;
    }

    if (row < m && col < n)
        C[AT(row, col, n)] = result; // store C
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 dim_block(N_THREADS, N_THREADS);
    dim3 dim_grid((n + 31) / 32, (m + 31) / 32);
    mysgemm<<<dim_grid, dim_block>>>(m, n, k, A, B, C); // launch
}
