/* RIGHT: a thread stores four elements of the tile one by one and reads them, and its neighbors',
 * four at a time; the row of A goes from float4 to float4 where it is aligned. */

#define T 16

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    __shared__ __align__(16) float a[T][T], b_turned[T][T + 4];

    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += T) {
        if (k % 4 == 0 && row < m) {
            if (x < T / 4 && start + 4 * x < k)
                reinterpret_cast<float4 *>(a[y])[x] =
                    reinterpret_cast<const float4 *>(A + row * k + start)[x];
            else if (x < T / 4)
                reinterpret_cast<float4 *>(a[y])[x] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        } else
            a[y][x] = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        b_turned[x][y] = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < T; i += 4) {
            float4 p = *(float4 *)&a[y][i], q = *(float4 *)&b_turned[x][i];
            sum += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
        }
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = sum;
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(m, n, k, A, B, C);
}
