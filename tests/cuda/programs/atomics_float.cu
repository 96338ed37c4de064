/* atomicAdd and atomicExch of float and double (double: compute capability 6.0 and later). */
#include "check.h"

__global__ void sums(float *f, double *d) {
    float old = atomicAdd(&f[0], 1.0f);
    if (old == 0) atomicAdd(&f[1], 1.0f); /* exactly one thread found the zero */
    atomicAdd(f + 2, -0.5f);
    atomicAdd(&d[0], 0.25);
    atomicAdd(&d[1], (double)threadIdx.x);
    atomicExch(&f[3], 7.5f);
}
__global__ void in_shared(float *out) {
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, (float)threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

int main() {
    float *f = visible<float>(16);
    double *d = visible<double>(2);
    sums<<<40, 256>>>(f, d);
    RUN();
    EXPECT(f[0], 10240.0f);
    EXPECT(f[1], 1.0f);
    EXPECT(f[2], -5120.0f);
    EXPECT(f[3], 7.5f);
    EXPECT(d[0], 2560.0);
    EXPECT(d[1], 40 * 32640.0);
    in_shared<<<16, 100>>>(f);
    RUN();
    for (int i = 0; i < 16; ++i) EXPECT(f[i], 4950.0f);
    return verdict();
}
