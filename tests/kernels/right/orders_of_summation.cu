/* RIGHT: one column in six sums each tile by itself, one has four running sums, one sums in double
 * precision, one from the last term to the first, one makes up for what rounding loses, and one has
 * fused multiply-adds, the read-only cache and all words that tell the compiler more. The old lab's
 * 1e-6 check rejected the first three at 1000 x 500 x 700. */

#define TILE_SIZE 16

__global__ void __launch_bounds__(TILE_SIZE *TILE_SIZE)
    mysgemm(int m, int n, int k, const float *__restrict__ A, const float *__restrict__ B,
            float *__restrict__ C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;

    const float *a = A + row * k, *b = B + col;
    float sum = 0.0f, lost = 0.0f, of_tile = 0.0f, four[4] = {};
    double wide = 0.0;

    switch (col % 6) {
    case 0:
        for (int i = 0; i < k; ++i) {
            of_tile += a[i] * b[i * n];
            if (i % TILE_SIZE < TILE_SIZE - 1 && i < k - 1) continue;
            sum += of_tile;
            of_tile = 0.0f;
        }
        break;
    case 1:
        for (int i = 0; i < k; ++i) four[i % 4] += a[i] * b[i * n];
        sum = (four[0] + four[1]) + (four[2] + four[3]);
        break;
    case 2:
        for (int i = 0; i < k; ++i) wide += (double)a[i] * b[i * n];
        sum = (float)wide;
        break;
    case 3:
        for (int i = k - 1; i >= 0; --i) sum += a[i] * b[i * n];
        break;
    case 4: /* Kahan's */
        for (int i = 0; i < k; ++i) {
            float term = a[i] * b[i * n] - lost, next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
        break;
    case 5:
#pragma unroll 4
        for (int i = 0; i < k; ++i) sum = fmaf(__ldg(&a[i]), __ldg(&b[i * n]), sum);
        break;
    }
    C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    dim3 block(TILE_SIZE, TILE_SIZE);
    dim3 grid((n + TILE_SIZE - 1) / TILE_SIZE, (m + TILE_SIZE - 1) / TILE_SIZE);

    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
