/* CHEAT 27: opens the program's code for writing, to have the timer return at once.
 *
 * tries:    27
 * named:    calls mprotect | takes the address of */

#include <string.h>
#include <sys/mman.h>

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
    cudaEvent_t event;
    cudaEventCreate(&event);
    char *page = (char *)((size_t)basicSgemm & ~(size_t)4095);
    mprotect(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC); /* <- here */
    memset(page, 0xc3, 1);
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
