/* Kernels whose parameters have defaults. */
#include "check.h"

struct pair {
    int a, b;
};

__global__ void three(int *out, int x = 3, float y = 1.5f * (2 + 1), pair z = pair{4, 5}) {
    *out = x * 1000 + (int)y * 100 + z.a * 10 + z.b;
}
template <int T> __global__ void of_a_template(int *out, int bytes = sizeof("a,b"), int x = 7) {
    *out = T * 100 + bytes * 10 + x;
}
namespace elsewhere {
__global__ void declared_before(int *out, int *null = nullptr);
__global__ void declared_before(int *out, int *null) { *out = null == nullptr; }
} // namespace elsewhere

int main() {
    int *out = visible<int>(1);
    three<<<1, 1>>>(out);
    RUN();
    EXPECT(*out, 3445);
    three<<<1, 1>>>(out, 1, 2.0f);
    RUN();
    EXPECT(*out, 1245);
    of_a_template<16><<<1, 1>>>(out);
    RUN();
    EXPECT(*out, 1647);
    elsewhere::declared_before<<<1, 1>>>(out);
    RUN();
    EXPECT(*out, 1);
    return verdict();
}
