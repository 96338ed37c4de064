/* Device code in the spellings of many courses. */
#include <type_traits>

#define DEV __device__ __forceinline__
#define HD __host__ __device__
#define KERNEL(name) __global__ void name

DEV float by_macro(float x) { return x; }
HD constexpr float by_both(float x) { return x + 1; }
float __device__ behind_the_type(float x) { return x; }
static float inline __device__ in_between(float x) { return x; }
__device__ float in_registers(register float x) {
    register float sums[2][2] = {0.0f};
    return sums[1][1] + x;
}
template <typename... T> __device__ auto sum_of(T... x) { return (x + ...); }

namespace {
__device__ int hidden(int x) { return x; }
__device__ int hidden_data[4];
const int HIDDEN = 3;
} // namespace
namespace one::two {
static __device__ int counter = 1;
__device__ __noinline__ int three() { return 3; }
} // namespace one::two
template <class T> __device__ T zero = T(0);

template <class Derived> struct Curious {
    __device__ int twice() const { return 2 * static_cast<const Derived *>(this)->once(); }
};
struct Once : Curious<Once> {
    __device__ int once() const { return 1; }
};
template <class Op> struct Apply {
    Op op;
    template <class T> HD T operator()(T a, T b) const { return op(a, b); }
};
struct Plus {
    template <class T> HD T operator()(T a, T b) const { return a + b; }
};
enum class Mode { SUM, PRODUCT };
__device__ Mode operator|(Mode a, Mode) { return a; }
union Bits {
    float f;
    unsigned u;
};
struct alignas(16) Vec {
    float x = 0, y = 0, z = 0, w = 0;
    HD Vec &operator+=(const Vec &o) {
        x += o.x;
        return *this;
    }
};
HD inline Vec operator+(Vec a, const Vec &b) { return a += b; }
struct Pool {
    __device__ void *operator new(size_t bytes) { return malloc(bytes); }
    __device__ void operator delete(void *p) { free(p); }
    int value = 1;
};
template <int N> struct Unrolled {
    static __device__ float run(const float *p) { return p[N - 1] + Unrolled<N - 1>::run(p); }
};
template <> struct Unrolled<0> {
    static __device__ float run(const float *) { return 0; }
};

KERNEL(by_kernel_macro)(float *p) {
    p[0] += by_macro(1) + in_registers(1) + HIDDEN + hidden(1) + hidden_data[1];
}
__global__ void __launch_bounds__(128, 2)
    spread(float *__restrict__ p, const Vec v, Mode mode = Mode::SUM) {
    static constexpr int table[3] = {1, 2, 3};
    constexpr auto square = [](int x) { return x * x; };
    __shared__ Bits bits[32];
    extern __shared__ float dynamic[];
    auto [x, y] = make_float2(1, 2);
    bits[threadIdx.x].f = 1;
    dynamic[threadIdx.x] = 2;
    __syncthreads();
    if constexpr (std::is_same<float, float>::value) p[1] += table[threadIdx.x % 3] + square(2);
    p[2] = sum_of(1, 2, 3) + one::two::counter + one::two::three() + x + y;
    p[3] = zero<float> + Once().twice() + Apply<Plus>()(1, 2) + (int)(mode | Mode::PRODUCT);
    p[4] = (v + Vec()).x + bits[0].u + dynamic[0] + Unrolled<3>::run(p) + behind_the_type(1);
    Pool *pool = new Pool();
    p[5] = pool->value + in_between(1) + std::integral_constant<int, 3>::value + by_both(2);
    delete pool;
    switch (mode) {
    case Mode::SUM: break;
    default: p[6] = 0;
    }
}

int main() {
    float *p;
    cudaMalloc(&p, 8 * sizeof *p);
    Vec v = Vec() + Vec();
    v.y = by_both(1) + Apply<Plus>()(1, 2);
    by_kernel_macro<<<1, 1>>>(p);
    spread<<<1, 32, 32 * sizeof *p>>>(p, v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
