/* min and max in every pair of types that CUDA overloads them for, on both sides; and C++'s, which
 * nvcc's headers bring along. */
#include "check.h"

template <class A, class B> struct same_type { static const bool value = false; };
template <class A> struct same_type<A, A> { static const bool value = true; };
#define TYPE_OF(expression, type) CHECK((same_type<decltype(expression), type>::value))

__global__ void on_device(double *out, int i, unsigned u, long long l, float f, double d) {
    store(out, min(i, 7), max(i, 7), max(u, 3u), min(u, i), max(i, u), min(l, 7LL), max(f, 2.5f),
          min(f, 2.5f), max(f, d), min(d, f), min(d, 0.25),
          max(f, 0.0f / (f - f)) /* NaN gives way to the number */, min(blockDim.x, 16),
          max(threadIdx.x, 4u), max((size_t)5, (size_t)6));
}

int main() {
    CHECK(std::min(4, std::numeric_limits<int>::max()) == 4);
    double *out = visible<double>(16);
    RUN(on_device<<<1, 1>>>(out, -5, 4000000000u, -1099511627776LL, 1.5f, 3.25));
    EXPECT_EACH(out, -5, 7, 4000000000.0, 4000000000.0, 4294967291.0, -1099511627776.0, 2.5, 1.5,
                3.25, 1.5, 0.25, 1.5, 1, 4, 6);

    int i = 3;
    unsigned u = 4;
    long l = 5;
    TYPE_OF(min(i, i), int);
    TYPE_OF(max(i, u), unsigned);
    TYPE_OF(max(l, l), long);
    TYPE_OF(min(1.0f, 2.0f), float);
    TYPE_OF(min(1.0f, 2.0), double);
    EXPECT(min(i, 4) + max(i, 4), 7);
    EXPECT(max(u, 3u), 4u);
    EXPECT(min(l, 9L), 5L);
    EXPECT(max(2.5f, 1.5f), 2.5f);
    return verdict();
}
