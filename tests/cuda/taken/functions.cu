/* Functions that device code may call, and host code its own. */
#include <algorithm>
#include <assert.h>
#include <cmath>
#include <cstdlib>
#include <stdio.h>
#include <string.h>
#include <utility>
#include <vector>

__device__ float declared_first(float);
static __device__ __forceinline__ float inlined(float x) { return x + 1; }
static inline __device__ float unused(float x) { return rand() * x; } /* never compiled for a GPU */
__host__ __device__ inline float both(float x) { return x * 2; }
__device__ __host__ static float both_static(float x) { return both(x); }
template <class T> __device__ T twice(T x) { return x + x; }
template <> __device__ int twice<int>(int x) { return 2 * x; }
template <class T> __host__ __device__ T clamp_to(T x, T low, T high) {
    return x < low ? low : x > high ? high : x;
}
__device__ int recursive(int n) { return n ? n + recursive(n - 1) : 0; }
extern "C" __device__ float in_c(float x) { return x; }
namespace geometry {
__device__ float area(float a, float b) { return a * b; }
}
constexpr int square(int x) { return x * x; }
static_assert(square(2) == 4, "known when compiled");
__host__ __device__ constexpr int cube(int x) { return x * x * x; }

/* In a template of the host's nvcc lets a call of device code pass that depends on its arguments. */
struct OnDevice {
    __device__ float operator()(float x) { return x; }
};
template <class F> float on_host(F f) { return f(1.0f); }

typedef float (*Function)(float);
__device__ float add_one(float x) { return x + 1; }
__device__ Function table[] = {inlined, add_one};
__device__ Function chosen = add_one;

template <class F> __device__ float apply(F f, float x) { return f(x); }

__noinline__ __device__ float kept(float x) { return x; }
__attribute__((noinline)) __device__ float kept_too(float x) { return x; }
[[nodiscard]] __device__ float asked(float x) { return x; }
__device__ auto deduced(float x) -> float { return x; }

template <int N> __global__ void of_size(float *p) {
    float a[cube(N)] = {};
    p[0] = a[N] + cube(N);
}
template __global__ void of_size<3>(float *);

__global__ __launch_bounds__(64) void use(float *p, int n) {
    auto local = [=](float x) { return x + p[0]; };
    auto deeper = [&] { return [&](int i) { return p[i] + inlined(1); }(n); };
    p[0] = declared_first(1) + inlined(2) + both(3) + both_static(4) + twice(5.0f) + twice(6);
    p[1] = clamp_to(n, 0, 3) + recursive(3) + in_c(2) + geometry::area(1, 2) + cube(n);
    p[2] = table[n % 2](1) + chosen(2) + apply(local, 3) + deeper() + kept(1) + kept_too(2);
    p[3] = std::sqrt(p[0]) + std::abs(p[1]) + std::pow(p[2], 2.0f) + std::fma(p[0], p[1], p[2]);
    p[4] = sqrtf(p[0]) + fabs(-1.0) + __expf(p[1]) + rsqrtf(p[2]) + fmaxf(p[0], 1) + abs(-n);
    p[5] = std::move(p[4]) + min(n, 3) + max(1.0f, p[0]) + isnan(p[0]) + signbit(p[1]);
    memcpy(p + 6, p, sizeof *p);
    memset(p + 7, 0, sizeof *p);
    char *memory = (char *)malloc(4);
    free(memory);
    int *object = new int(3);
    delete object;
    if (n < 0) printf("%d\n", n);
    assert(n >= 0);
    for (float x : {1.0f, 2.0f}) p[7] += x;
}
__device__ float declared_first(float x) { return asked(x) + deduced(x); }

int main(int argc, char **) {
    std::vector<float> values(8, both(1));
    auto host = [&](float x) { return std::max(x, values[0]) + square(3) + both_static(1); };
    float *p;
    cudaMalloc(&p, 8 * sizeof *p);
    dim3 block = dim3(std::min(8, 4));
    use<<<1, block>>>(p, (int)host(1) > 1000);
    of_size<2><<<1, 1>>>(p);
    Function host_pointer = add_one; /* an address that only a GPU can call */
    void (*kernel)(float *) = of_size<3>;
    kernel<<<1, 1>>>(p);
    if (argc > 9) return (int)on_host(OnDevice());
    int unused_here = threadIdx.x; /* nvcc takes this in host code */
    (void)unused_here;
    return !host_pointer || cudaDeviceSynchronize() != cudaSuccess;
}
