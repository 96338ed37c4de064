/* FAULT 14: rows of the tile are padded to 17 floats and read as float4.
 *
 * finds:    misaligned
 * variable: a_tile
 * element:  a_tile[15][0]
 * thread:   15 15
 * block:    0 0
 * says:     row 15 of a_tile begins at element 255, which is not a multiple of 4
 * loses:    correct */

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ __align__(16) float a_tile[T][T + 1];
    __shared__ float b_tile[T][T];

    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0.0f;

    for (int p = 0; p < k; p += T) {
        a_tile[ty][tx] = row < m && p + tx < k ? A[row * k + p + tx] : 0.0f;
        b_tile[ty][tx] = p + ty < k && col < n ? B[(p + ty) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i += 4) {
            float4 a = *(const float4 *)&a_tile[ty][i]; /* <- here */
            sum += a.x * b_tile[i][tx] + a.y * b_tile[i + 1][tx];
            sum += a.z * b_tile[i + 2][tx] + a.w * b_tile[i + 3][tx];
        }
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
