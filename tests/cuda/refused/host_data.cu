/* Variables of the host's that device code uses by name: mysgemm, where that is not said. */

// ==== host_int
int width = 16;
    C[0] = width; // refused: identifier "width" is undefined in device code

// ==== host_reference
int size = 16;
int &width = size;
    C[0] = width; // refused: is undefined in device code

// ==== host_structure: that can change
struct Settings {
    int width;
};
Settings settings = {16};
    C[0] = settings.width; // refused: identifier "settings" is undefined in device code

// ==== host_static_member
struct Settings {
    static int scale;
};
int Settings::scale = 1;
    C[0] = Settings::scale; // refused: identifier "Settings::scale" is undefined in device code

// ==== host_array_written
static int visits[2];
    visits[1] = n; // refused: identifier "visits" is undefined in device code
    C[0] = 1.0f;

// ==== host_const_array
static const float factor[2] = {1.0f, 1.0f};
    C[0] = factor[n % 2]; // refused: identifier "factor" is undefined in device code

// ==== host_constexpr_array
constexpr float factor[2] = {1.0f, 1.0f};
    C[0] = factor[n % 2]; // refused: identifier "factor" is undefined in device code

// ==== host_const_address
static const int start = 0;
__device__ int value(const int *p) { return *p; }
    C[0] = value(&start); // refused: identifier "start" is undefined in device code

// ==== host_value_of_a_call: a const that is known at run time only
#include <stdlib.h>
static const int scale = abs(-1) + (getenv("SCALE") ? 1 : 0);
    C[0] = scale; // refused: identifier "scale" is undefined in device code

// ==== host_value_of_powf: which compilers know
const float scale = powf(2.0f, 0.0f);
    C[0] = scale; // refused: identifier "scale" is undefined in device code

// ==== host_value_of_sqrt: in a namespace
namespace {
static const double scale = sqrt(4.0);
}
    C[0] = scale; // refused: is undefined in device code

// ==== host_thread_local
thread_local float tile[16];
    C[0] = tile[n]; // refused: identifier "tile" is undefined in device code

// ==== host_thread: in C's older spelling
static __thread float tile[16];
    C[0] = tile[n]; // refused: identifier "tile" is undefined in device code

// ==== lambda_reads_host_data: a lambda in the kernel
int width = 16;
    auto scale = [=](float x) {
        return x * width; // refused: identifier "width" is undefined in device code
    };
    C[0] = scale(C[0]);

// ==== both_reads_host_data: a __host__ __device__ function that the kernel calls
int width = 16;
__host__ __device__ inline int scale() {
    return width / 16; // refused: identifier "width" is undefined in device code
}
__global__ void mysgemm(float *C) { C[0] = scale(); }
