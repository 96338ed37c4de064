/* RIGHT: four elements a load where rows are multiples of 16 bytes, one by one elsewhere. */

#define TILE_SIZE 16

__device__ float dot(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n)
        return;

    float sum = 0.0f;
    int i = 0;
    if (k % 4 == 0) {
        const float4 *a = reinterpret_cast<const float4 *>(A + row * k);
        for (; i < k; i += 4)
            sum += dot(a[i / 4], make_float4(B[i * n + col], B[(i + 1) * n + col],
                                             B[(i + 2) * n + col], B[(i + 3) * n + col]));
    }
    for (; i < k; ++i)
        sum += A[row * k + i] * B[i * n + col];
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
