/* RIGHT: three pairs of tiles in turn. The only barrier of a phase stands between load and product;
 * what the next phase overwrites was read before the barrier of this one. */

#define T 16
#define STAGES 3

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    extern __shared__ float pool[];
    auto a = reinterpret_cast<float(*)[T][T]>(pool);
    auto b = reinterpret_cast<float(*)[T][T]>(pool + STAGES * T * T);

    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int start = 0, stage = 0; start < k; start += T, stage = (stage + 1) % STAGES) {
        a[stage][y][x] = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        b[stage][y][x] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i)
            sum += a[stage][y][i] * b[stage][i][x];
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T),
              2 * STAGES * T * T * sizeof(float)>>>(m, n, k, A, B, C);
}
