/* RIGHT: one piece of shared memory is two tiles during the phases and C's tile behind them,
 * through a union; a barrier lies between. */

#define T 8

union room {
    struct {
        float a[T][T], b[T][T];
    } in;
    double out[T][T];
};

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ room shared;
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += T) {
        shared.in.a[y][x] = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        shared.in.b[y][x] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; ++i)
            sum += shared.in.a[y][i] * shared.in.b[i][x];
        __syncthreads();
    }
    shared.out[x][y] = sum;
    __syncthreads();
    if (row < m && col < n)
        C[row * n + col] = (float)shared.out[x][y];
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
