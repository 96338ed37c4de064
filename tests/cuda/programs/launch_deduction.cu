/* Launches of kernels that the arguments choose: template parameters deduced or left to their
 * defaults, and overloads. (The emulator finds them where each argument has just the type of its
 * parameter.) */
#include "check.h"

template <typename T> __global__ void deduced(T *out, T value) { out[threadIdx.x] = value; }
template <typename T = int> __global__ void defaulted(int *out) { out[threadIdx.x] = sizeof(T); }
template <int ROWS, typename T> __global__ void half(T *out) { out[threadIdx.x] = ROWS; }

__global__ void overloaded(int *x, int what) { x[threadIdx.x] = what; }
__global__ void overloaded(int *x, const int *what) { x[threadIdx.x] = what[threadIdx.x] + 1000; }

int main() {
    int *n = visible<int>(64);
    float *f = visible<float>(64);
    deduced<<<1, 64>>>(n, 3);
    deduced<<<1, 64>>>(f, 1.5f);
    RUN();
    EXPECT(n[63], 3);
    EXPECT(f[63], 1.5f);
    defaulted<<<1, 64>>>(n);
    half<7><<<1, 32>>>(f);
    RUN();
    EXPECT(n[63], 4);
    EXPECT(f[31], 7.0f);
    EXPECT(f[32], 1.5f);
    overloaded<<<1, 64>>>(n, 5);
    RUN();
    EXPECT(n[63], 5);
    overloaded<<<1, 64>>>(n, (const int *)n);
    RUN();
    EXPECT(n[63], 1005);
    return verdict();
}
