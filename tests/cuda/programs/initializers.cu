/* First values of the device's variables that are constants, or none: of constructors and
 * destructors that do nothing. And host code that uses such a variable before main() begins. */
#include "check.h"

constexpr int square(int x) { return x * x; }
struct Empty {
    float value;
    __device__ Empty() {}
    __device__ ~Empty() {}
};
struct OfHost {
    float value;
    OfHost() {}
};
#ifdef __clang__ /* its constructor would call those of its parts, though they do nothing */
typedef Empty Whole;
#else
struct Whole : Empty {
    OfHost parts[2];
};
#endif
struct WithDefault {
    float value = 1.5f;
};

typedef float (*function)(float);
__device__ float twice(float x) { return 2 * x; }

__device__ Empty one, several[3];
__constant__ OfHost constant;
__device__ Whole whole;
__managed__ WithDefault with_default;
__constant__ int squares[2] = {square(2), square(3)};
const double half = 0.5;
__device__ float quarter = half / 2, tiny = 1e-3f;
__device__ float data[4];
__device__ float *second = data + 1;
__device__ function call = twice;
__device__ size_t where = (size_t)&quarter;

static const float values[4] = {1, 2, 3, 4};
static bool copied = cudaMemcpyToSymbol(data, values, sizeof values) == cudaSuccess;
__device__ int counter;
static void *const host_address = &counter;
namespace {
const float *from_second = data + (getenv("HOME") != nullptr);
thread_local const float *of_thread = data + (getenv("HOME") != nullptr);
} // namespace

__global__ void use(float *out) {
    static Empty inside;
    static int visits = 3;
    store(out, squares[1] + with_default.value, quarter, *second, call(4), where ? 1.0f : 0.0f);
    if (one.value + whole.value + constant.value + several[2].value + inside.value + visits < 0)
        *out = 0;
}

int main() {
    float *out = visible<float>(5);
    RUN(use<<<1, 1>>>(out));
    EXPECT_EACH(out, 10.5f, 0.25f, 2, 8, 1);
    CHECK(copied && host_address != out && from_second == of_thread);
    return verdict();
}
