/* RIGHT: headers of the C++ library that a template left behind, and a helper that is not inlined. */

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

__device__ __noinline__ float dot(int k, const float *a, const float *b, int step)
{
    float sum = 0.0f;
    for (int p = 0; p < k; ++p)
        sum = fmaf(a[p], b[p * step], sum);
    return sum;
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n)
        C[row * n + col] = dot(k, A + row * k, B + col, n);
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    auto start = std::chrono::steady_clock::now();
    std::vector<int> sides = {16, 8};
    auto block = std::make_unique<dim3>(std::max(sides[0], sides[1]), std::min(sides[0], sides[1]));
    mysgemm<<<dim3((n - 1) / block->x + 1, (m - 1) / block->y + 1), *block>>>(m, n, k, A, B, C);
    std::string unit = "s";
    (void)(std::chrono::steady_clock::now() - start);
}
