/* CHEAT 22: leaves the launch to a thread that goes on after the return.
 *
 * tries:    22
 * named:    it starts threads */

#include <thread>

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
    std::thread([=] { /* <- here */
        dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
        mysgemm<<<grid, block>>>(m, n, k, A, B, C);
    }).detach();
}
