/* CHEAT 41: a kernel calls the runtime at an address that was computed: here, the last instruction
 * of some function, which only returns.
 *
 * tries:    41
 * named:    a kernel calls what is not in kernel.cu */

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C,
                        void (*function)())
{
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    function(); /* <- here */
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
    mysgemm<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C,
                                                                  (void (*)())code);
}
