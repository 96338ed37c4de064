/* CHEAT 17: copies A and B to the host, multiplies there, and copies the result back.
 *
 * tries:    17
 * named:    copies device memory to the host */

#include <vector>

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    std::vector<float> a(m * k), b(k * n), c(m * n);
    cudaMemcpy(a.data(), A, a.size() * sizeof(float), cudaMemcpyDeviceToHost); /* <- here */
    cudaMemcpy(b.data(), B, b.size() * sizeof(float), cudaMemcpyDeviceToHost);
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
            for (int p = 0; p < k; ++p)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
    mysgemm<<<1, 1>>>(m, n, k, A, B, C);
    cudaMemcpy(C, c.data(), c.size() * sizeof(float), cudaMemcpyHostToDevice);
}
