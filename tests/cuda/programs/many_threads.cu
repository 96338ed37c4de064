/* 1024 threads a block, many blocks, no barrier. */
#include "check.h"

__global__ void saxpy(int n, float a, const float *x, float *y) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] += a * x[i];
}

int main() {
    const int n = 3000000;
    float *x = visible<float>(n), *y = visible<float>(n);
    for (int i = 0; i < n; ++i) x[i] = i % 1000;
    saxpy<<<(n + 1023) / 1024, 1024>>>(n, 2, x, y);
    saxpy<<<500, 1024>>>(n, 1, x, y);
    RUN();
    for (int i = 0; i < n; ++i) CHECK(y[i] == 3.0f * (i % 1000));
    return verdict();
}
