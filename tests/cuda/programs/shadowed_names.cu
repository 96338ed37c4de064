/* Host variables named like the device's, which many wrappers have; parameters shadowed by a loop's
 * variable; names that look like CUDA's. */
#include "check.h"

__global__ void product(int m, int n, int k, const float *A, const float *B, float *C) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0, end = k; i < end; ++i) {
        int k = i;
        sum += A[row * end + k] * B[k * n + col];
    }
    for (int k = 0; k < 0; ++k) sum += 1000;
    C[row * n + col] = sum;
}

void wrapper(int m, int n, int k, const float *A, const float *B, float *C) {
    const int BLOCK_SIZE = 16;
    dim3 gridDim((n - 1) / BLOCK_SIZE + 1, (m - 1) / BLOCK_SIZE + 1),
        blockDim(BLOCK_SIZE, BLOCK_SIZE);
    EXPECT(gridDim.x * blockDim.x, 48u);
    product<<<gridDim, blockDim>>>(m, n, k, A, B, C);
}

void other_names(int *x);
__global__ void with_local_names(int *x) {
    int min = 3, max = 4, floor = 5, index = threadIdx.x, y1 = 6;
    x[index] = min + max + floor + y1;
}
void other_names(int *x) {
    int threadIdx = 3, blockIdx = 4, launch = 5, warp = 6;
    dim3 gridSize(1), blockSize(32);
    with_local_names<<<gridSize, blockSize>>>(x);
    RUN();
    EXPECT(x[threadIdx], 18);
    EXPECT(threadIdx + blockIdx + launch + warp, 18);
}

struct config {
    dim3 gridDim, blockDim;
};

int main() {
    const int m = 20, n = 40, k = 30;
    float *A = visible<float>(m * k), *B = visible<float>(k * n), *C = visible<float>(m * n);
    for (int i = 0; i < m * k; ++i) A[i] = i % 7;
    for (int i = 0; i < k * n; ++i) B[i] = i % 5;
    wrapper(m, n, k, A, B, C);
    RUN();
    for (int row = 0; row < m; ++row)
        for (int col = 0; col < n; ++col) {
            float sum = 0;
            for (int i = 0; i < k; ++i) sum += A[row * k + i] * B[i * n + col];
            EXPECT(C[row * n + col], sum);
        }
    int *x = visible<int>(32);
    other_names(x);
    config c = {dim3(2), dim3(3)};
    EXPECT(c.gridDim.x + c.blockDim.x, 5u);
    return verdict();
}
