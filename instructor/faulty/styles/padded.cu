/* STYLE: A's tile is stored transposed and padded against bank conflicts; B's index is kept. */

#define DIM 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float a_tile[DIM][DIM + 1]; // [column of A][row of A]
    __shared__ float b_tile[DIM][DIM + 1];

    int c_row = blockIdx.y * DIM + threadIdx.y;
    int c_col = blockIdx.x * DIM + threadIdx.x;
    float dot = 0;

    for (int offset = 0; offset < k; offset += DIM) {
        int a_index = c_row * k + offset + threadIdx.x;
        int b_index = (offset + threadIdx.y) * n + c_col;
        bool a_ok = c_row < m && offset + threadIdx.x < k;
        bool b_ok = offset + threadIdx.y < k && c_col < n;
        a_tile[threadIdx.x][threadIdx.y] = a_ok ? A[a_index] : 0; // load A
        b_tile[threadIdx.y][threadIdx.x] = b_ok ? B[b_index] : 0; // load B
        __syncthreads(); // first barrier
        for (int q = 0; q < DIM; q++)
            dot += a_tile[q][threadIdx.y] * b_tile[q][threadIdx.x]; // multiply
        __syncthreads(); // second barrier
    }

    if (c_row < m && c_col < n)
        C[c_row * n + c_col] = dot; // store C
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(DIM, DIM);
    dim3 grid((n + DIM - 1) / DIM, (m + DIM - 1) / DIM);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C); // launch
}
