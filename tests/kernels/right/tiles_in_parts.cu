/* RIGHT: a tile whose elements are stored and loaded in bytes, and one in halves of words:
 * neighboring bytes of a word by different threads. */

#define T 8

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ unsigned char a[4][T][T];
    __shared__ unsigned short b[2][T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0.0f;

    for (int start = 0; start < k; start += T) {
        float of_a = row < m && start + x < k ? A[row * k + start + x] : 0.0f;
        float of_b = start + y < k && col < n ? B[(start + y) * n + col] : 0.0f;
        unsigned int bits_a = __float_as_uint(of_a), bits_b = __float_as_uint(of_b);
        for (int i = 0; i < 4; ++i)
            a[i][y][x] = bits_a >> 8 * i;
        for (int i = 0; i < 2; ++i)
            b[i][y][x] = bits_b >> 16 * i;
        __syncthreads();
        for (int i = 0; i < T; ++i) {
            bits_a = bits_b = 0;
            for (int j = 0; j < 4; ++j)
                bits_a |= (unsigned int)a[j][y][i] << 8 * j;
            for (int j = 0; j < 2; ++j)
                bits_b |= (unsigned int)b[j][i][x] << 16 * j;
            sum += __uint_as_float(bits_a) * __uint_as_float(bits_b);
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
