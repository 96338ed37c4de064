/* Several kernels in one file, that a wrapper chooses from or runs one after the other; kernels
 * declared first and defined later; static ones; kernels in a namespace; and kernels whose
 * parameters have defaults. */
#include "check.h"

__global__ void declared(int *x);

__global__ void fill(int *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = i;
}

static __global__ void twice(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

namespace mine {
__global__ void twice(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= -2; }
__global__ void declared_before(int *x, int *null = nullptr);
__global__ void declared_before(int *x, int *null) { *x = null == nullptr; }
} // namespace mine

__global__ void add(int *x, int what) { x[threadIdx.x] += what; }

extern "C" __global__ void with_c_linkage(int *x) { x[threadIdx.x] = 77; }

struct pair {
    int a, b;
};
__global__ void three(int *out, int x = 3, float y = 1.5f * (2 + 1), pair z = pair{4, 5}) {
    *out = x * 1000 + (int)y * 100 + z.a * 10 + z.b;
}
template <int T> __global__ void of_a_template(int *out, int bytes = sizeof("a,b"), int x = 7) {
    *out = T * 100 + bytes * 10 + x;
}
template <class T> static void in_a_template(T *out) { three<<<1, 1>>>(out); }

void wrapper(int *x, int n, bool negative) {
    int blocks = n / 64;
    fill<<<blocks, 64>>>(x);
    if (negative)
        mine::twice<<<blocks, 64>>>(x);
    else
        twice<<<blocks, 64>>>(x);
    declared<<<blocks, 64>>>(x);
}

int main() {
    int *x = visible<int>(1024), *y = visible<int>(1024);
    wrapper(x, 1024, false);
    RUN(wrapper(y, 1024, true));
    for (int i = 0; i < 1024; ++i) {
        EXPECT(x[i], 2 * i + 1);
        EXPECT(y[i], -2 * i + 1);
    }
    void (*with_int)(int *, int) = add;
    with_int<<<1, 10>>>(x, 5);
    RUN(with_c_linkage<<<1, 1>>>(x + 500));
    EXPECT(x[3], 12);
    EXPECT(x[500], 77);

    RUN(three<<<1, 1>>>(x));
    EXPECT(*x, 3445);
    RUN(three<<<1, 1>>>(x, 1, 2.0f));
    EXPECT(*x, 1245);
    RUN(in_a_template(x));
    EXPECT(*x, 3445);
    RUN(of_a_template<16><<<1, 1>>>(x));
    EXPECT(*x, 1647);
    RUN(mine::declared_before<<<1, 1>>>(x));
    EXPECT(*x, 1);
    return verdict();
}

__global__ void declared(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
