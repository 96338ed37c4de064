/* FAULT 18: the sum is rounded to the 11 bits of half precision before it is stored.
 *
 * finds:    wrong-result
 * cause:    sum-start
 * loses:    correct */

__device__ float round_to_half(float x)
{
    unsigned bits = __float_as_uint(x);
    bits += 0x0FFFu + ((bits >> 13) & 1u); /* to the nearest, ties to even */
    return __uint_as_float(bits & 0xFFFFE000u);
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += A[row * k + i] * B[i * n + col];
        C[row * n + col] = round_to_half(sum);
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
