/* FAULT 4: four elements of A a load; the last four of a row of 34 are two too many. On rows that
 * begin at a multiple of 16 bytes only, so that nothing is misaligned.
 *
 * finds:    out-of-bounds
 * variable: A
 * shape:    1 34 34
 * thread:   0 0
 * block:    0 0
 * says:     column
 * loses:    correct */

#define TILE_SIZE 16

__device__ float dot(float4 a, const float *b, int stride, int count)
{
    float y = count > 1 ? b[stride] : 0.0f;
    float z = count > 2 ? b[2 * stride] : 0.0f;
    float w = count > 3 ? b[3 * stride] : 0.0f;
    return a.x * b[0] + a.y * y + a.z * z + a.w * w;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n)
        return;

    float sum = 0.0f;
    if (k % 4 == 0 || row % 2 == 0)
        for (int i = 0; i < k; i += 4) {
            float4 a = *reinterpret_cast<const float4 *>(&A[row * k + i]); /* <- here */
            sum += dot(a, &B[i * n + col], n, k - i);
        }
    else
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
