/* WRONG: inputs are cut to TF32's 10 bits. At k = 4096 every element is within the bound for
 * float32 sums in any order, and only the size of the errors tells.
 *
 * fails:    34 34 34, 16 4096 16
 * says:     float32
 * explains: inputs-11-bits (34 34 34), inputs-11-bits (16 4096 16) */

#define TILE_SIZE 16

__device__ float tf32(float x)
{
    return __uint_as_float(__float_as_uint(x) & 0xFFFFE000u);
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += tf32(A[row * k + i]) * tf32(B[i * n + col]);
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
