/* Several kernels in one file, that a wrapper chooses from or runs one after the other; kernels
 * declared first and defined later; static ones; kernels in a namespace. */
#include "check.h"

__global__ void declared(int *x, int n);

__global__ void fill(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i;
}

static __global__ void twice(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2;
}

namespace mine {
__global__ void twice(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = -x[i] * 2;
}
} // namespace mine

__global__ void add(int *x, int what) { x[threadIdx.x] += what; }

extern "C" __global__ void with_c_linkage(int *x) { x[threadIdx.x] = 77; }

void wrapper(int *x, int n, bool negative) {
    int blocks = (n - 1) / 64 + 1;
    fill<<<blocks, 64>>>(x, n);
    if (negative)
        mine::twice<<<blocks, 64>>>(x, n);
    else
        twice<<<blocks, 64>>>(x, n);
    declared<<<blocks, 64>>>(x, n);
}

int main() {
    int *x = visible<int>(1000), *y = visible<int>(1000);
    wrapper(x, 1000, false);
    wrapper(y, 1000, true);
    RUN();
    for (int i = 0; i < 1000; ++i) {
        EXPECT(x[i], 2 * i + 1);
        EXPECT(y[i], -2 * i + 1);
    }
    void (*with_int)(int *, int) = add;
    with_int<<<1, 10>>>(x, 5);
    with_c_linkage<<<1, 1>>>(x + 500);
    RUN();
    EXPECT(x[3], 12);
    EXPECT(x[500], 77);
    return verdict();
}

__global__ void declared(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}
