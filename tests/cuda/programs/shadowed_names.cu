/* Host variables named like the device's, which many wrappers have; parameters shadowed by a loop's
 * variable; names that look like CUDA's. */
#include "check.h"

__global__ void sums(int n, int k, const int *in, int *out) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    int sum = 0;
    for (int i = 0, end = k; i < end; ++i) {
        int k = i;
        sum += in[row * end + k];
    }
    for (int k = 0; k < 0; ++k) sum += 1000;
    out[row] = sum;
}

void wrapper(int n, int k, const int *in, int *out) {
    const int BLOCK_SIZE = 16;
    dim3 gridDim((n - 1) / BLOCK_SIZE + 1), blockDim(BLOCK_SIZE);
    EXPECT(gridDim.x * blockDim.x, 48u);
    sums<<<gridDim, blockDim>>>(n, k, in, out);
}

__global__ void with_local_names(int *x) {
    int min = 3, max = 4, floor = 5, index = threadIdx.x, y1 = 6;
    x[index] = min + max + floor + y1;
}
void other_names(int *x) {
    int threadIdx = 3, blockIdx = 4, launch = 5, warp = 6;
    dim3 gridSize(1), blockSize(32);
    RUN(with_local_names<<<gridSize, blockSize>>>(x));
    EXPECT(x[threadIdx], 18);
    EXPECT(threadIdx + blockIdx + launch + warp, 18);
}

int main() {
    const int n = 40, k = 30;
    int *in = visible<int>(n * k), *out = visible<int>(n);
    for (int i = 0; i < n * k; ++i) in[i] = i;
    RUN(wrapper(n, k, in, out));
    for (int row = 0; row < n; ++row) EXPECT(out[row], k * (k * row) + k * (k - 1) / 2);
    int *x = visible<int>(32);
    other_names(x);
    return verdict();
}
