/* FAULT 18: inputs are cut to the 10 bits that TF32 keeps of a float32. With k in the thousands the
 * differences are within what rounding allows, and only their size over all of C shows them.
 *
 * finds:    not-float32
 * shape:    16 4096 16
 * says:     cut to 11 significant bits
 * fails:    34 34 34, 16 4096 16
 * reports:  float32
 * explains: inputs-11-bits (34 34 34), inputs-11-bits (16 4096 16)
 * loses:    correct */

__device__ float cut(float x) { return __uint_as_float(__float_as_uint(x) & 0xFFFFE000u); }

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;

    if (row < m && col < n) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i)
            sum += cut(A[row * k + i]) * cut(B[i * n + col]);
        C[row * n + col] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
