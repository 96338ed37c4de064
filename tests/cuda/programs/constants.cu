/* Constants of the host's that device code may use by value: nvcc knows what they are. And device
 * data that host code uses by name, which reads the host's own copy of it: nvcc only warns. */
#include <limits.h>
#include <math.h>

#define TILE 16
static const int width = 5;
const unsigned twice = width * 2;
static const float half = 0.5f;
const double third = 1.0 / 3;
constexpr float quarter = 0.25f;
#ifdef __clang__ /* it computes neither, unlike gcc and nvcc */
static const double upper = 3, absolute = 1;
#else
static const double upper = ceil(2.5), absolute = std::abs(-1);
#endif
const float host_root = sqrtf(4.0f); /* only host code uses it */
static const char letter = 'a';
const long long large = 1ll << 40;
enum { COUNT = 3 };
enum class Color { RED, GREEN };
namespace inner {
const int depth = 2;
}
struct Limits {
    static const int ROWS = 4;
    static constexpr float STEP = 1.5f;
};
struct Settings {
    int a, b;
    float f;
};
static const Settings settings = {1, 2, 3.0f}; /* not an array: its members are known */
template <int N> struct Size { static const int value = N + 1; };

__constant__ float in_constant[4] = {1, 2, 3, 4};
__constant__ Settings of_device = {1, 2, 3.0f};
__device__ float in_global[2];
__device__ const int table[3] = {1, 2, 3};
static __device__ int counter;
__device__ int *where;
__device__ dim3 corner(1, 2, 3);
__managed__ int shared_by_both = 4;
__shared__ int at_file_scope[4];

__global__ void use(float *p, int n) {
    const int local[3] = {1, 2, 3};
    static const int inside[3] = {4, 5, 6};
    const int more = 2 * width;
    const float root = sqrtf(4.0f);
    int sized[width], longer[more], of_float[(int)half + 1];
    longer[0] = of_float[0] = 0;
    for (int i = 0; i < width; i++) sized[i] = i;
    at_file_scope[threadIdx.x % 4] = 0;
    p[0] = width + twice + half + third + quarter + letter + large + COUNT + (int)Color::GREEN;
    p[1] = inner::depth + Limits::ROWS + Limits::STEP + Size<3>::value + TILE + (float)INT_MAX;
    p[2] = settings.a + settings.f + of_device.b + min(n, width) + (n ? width : 3) + INFINITY;
    p[3] = in_constant[n] + in_global[n] + table[n] + counter + corner.x + shared_by_both;
    p[4] = local[n] + inside[n] + sized[n] + at_file_scope[n] + longer[0] + of_float[0] + root +
           upper + absolute;
}

/* In host code it may have any length. */
static int host_array(int n) {
    int values[n];
    values[0] = n;
    return values[0];
}

int main() {
    shared_by_both = host_array((int)host_root + 3);
    float values[4] = {1, 2, 3, 4}, *p;
    void *address;
    cudaMemcpyToSymbol(in_constant, values, sizeof values);
    cudaGetSymbolAddress(&address, counter);
    cudaMalloc(&p, 6 * sizeof *p);
    use<<<1, 4>>>(p, 1);
    volatile bool host_reads = !counter && in_constant[0] != 1 && !where; /* what, is not said */
    (void)host_reads;
    return cudaDeviceSynchronize() != cudaSuccess;
}
