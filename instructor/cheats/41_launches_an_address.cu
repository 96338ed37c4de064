/* CHEAT 41: launches the runtime as if it were a kernel, at an address that was computed: here, the
 * last instruction of some function, which only returns.
 *
 * tries:    41
 * loses:    memory
 * named:    invalid device function */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0.0f;
        for (int p = 0; p < k; ++p)
            sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const unsigned char *code = (const unsigned char *)mysgemm + (1 << 14);
    while (*code != 0xC3) /* x86's ret */
        ++code;
    ((void (*)(int))code)<<<1, 1>>>(m);
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);
}
