/* RIGHT: one column in six sums each tile by itself, one has four running sums, one sums in double
 * precision, one from the last term to the first, one makes up for what rounding loses, and one has
 * fused multiply-adds, the read-only cache and all words that tell the compiler more. The old lab's
 * 1e-6 check rejected the first three at 1000 x 500 x 700. */

#define TILE_SIZE 16

__device__ float in_tiles(int k, int n, const float *a, const float *b)
{
    float sum = 0.0f;
    for (int start = 0; start < k; start += TILE_SIZE) {
        float tile_sum = 0.0f;
        for (int i = start; i < min(start + TILE_SIZE, k); ++i)
            tile_sum += a[i] * b[i * n];
        sum += tile_sum;
    }
    return sum;
}

__device__ float in_four(int k, int n, const float *a, const float *b)
{
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < k; ++i)
        sum[i % 4] += a[i] * b[i * n];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

__device__ float in_double(int k, int n, const float *a, const float *b)
{
    double sum = 0.0;
    for (int i = 0; i < k; ++i)
        sum += (double)a[i] * b[i * n];
    return (float)sum;
}

__device__ float backwards(int k, int n, const float *a, const float *b)
{
    float sum = 0.0f;
    for (int i = k - 1; i >= 0; --i)
        sum += a[i] * b[i * n];
    return sum;
}

__device__ float compensated(int k, int n, const float *a, const float *b) /* Kahan's */
{
    float sum = 0.0f, lost = 0.0f;
    for (int i = 0; i < k; ++i) {
        float term = a[i] * b[i * n] - lost;
        float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }
    return sum;
}

__device__ float fused(int k, int n, const float *__restrict__ a, const float *__restrict__ b)
{
    float sum = 0.0f;
#pragma unroll 4
    for (int i = 0; i < k; ++i)
        sum = fmaf(__ldg(&a[i]), __ldg(&b[i * n]), sum);
    return sum;
}

__global__ void __launch_bounds__(TILE_SIZE * TILE_SIZE)
mysgemm(int m, int n, int k, const float *__restrict__ A, const float *__restrict__ B,
        float *__restrict__ C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row >= m || col >= n)
        return;
    const float *a = A + row * k, *b = B + col;
    float *c = &C[row * n + col];
    switch (col % 6) {
    case 0: *c = in_tiles(k, n, a, b); break;
    case 1: *c = in_four(k, n, a, b); break;
    case 2: *c = in_double(k, n, a, b); break;
    case 3: *c = backwards(k, n, a, b); break;
    case 4: *c = compensated(k, n, a, b); break;
    case 5: *c = fused(k, n, a, b); break;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
