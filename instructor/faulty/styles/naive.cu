/* STYLE: no tiles: a thread reads a row of A and a column of B from global memory. */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p) {
            float a = A[row * k + p]; // load A
            float b = B[p * n + col]; // load B
            sum += a * b;
        }
        C[row * n + col] = sum; // store C
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16);
    dim3 grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C); // launch
}
