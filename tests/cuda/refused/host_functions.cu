/* Functions of the host's that device code calls: mysgemm, where that is not said. */

// ==== helper_without_device
static float product(float a, float b) { return a * b; }
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    C[0] = product(A[0], B[0]); // refused: write __device__ before product
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C) {
    mysgemm<<<1, 1>>>(m, n, k, A, B, C);
}

// ==== inline_helper: which the compiler is told to inline
__forceinline__ float half(float x) { return x / 2; }
    C[0] = half(C[0]); // refused: calling a __host__ function (half)

// ==== template_helper
template <class T> T half(T x) { return x / 2; }
    C[0] = half(C[0]); // refused: calling a __host__ function (half)

// ==== index_helper: in a namespace
namespace place {
inline int at(int row, int col, int width) { return row * width + col; }
}
    C[place::at(1, 2, n)] = 1.0f; // refused: calling a __host__ function (place::at)

// ==== helper_of_a_helper: a __device__ helper calls one that is not
float half(float x) { return x / 2; }
__device__ float quarter(float x) {
    return half(half(x)); // refused: calling a __host__ function (half) from a __device__ function (quarter)
}
__global__ void mysgemm(float *C) { C[0] = quarter(C[0]); }

// ==== constexpr_function: called at run time
constexpr int next(int i) { return i + 1; }
    C[next(n)] = 1.0f; // refused: calling a __host__ function (next)

// ==== address_of_host_function
float half(float x) { return x / 2; }
    float (*f)(float) = half; // refused: half
    C[0] = f(C[0]);

// ==== host_lambda: at namespace scope
static auto half = [](float x) { return x / 2; };
    C[0] = half(C[0]); // refused: half

// ==== member_without_device
struct Matrix {
    float *data;
    int width;
    float at(int row, int col) const { return data[row * width + col]; }
};
    C[0] = Matrix{C, n}.at(1, 2); // refused: calling a __host__ function (Matrix::at)

// ==== member_template: of a class template
template <class T> struct Row {
    const T *data;
    T at(int i) const { return data[i]; }
};
    C[0] = Row<float>{C}.at(1); // refused: calling a __host__ function (Row::at)

// ==== member_of_a_local_class
    struct Product {
        float a, b;
        float get() { return a * b; }
    };
    C[0] = Product{C[0], C[1]}.get(); // refused: calling a __host__ function (mysgemm::Product::get)

// ==== call_operator_without_device
struct Half {
    float operator()(float x) const { return x / 2; }
};
    C[0] = Half()(C[0]); // refused: calling a __host__ function (Half::operator())

// ==== constructor_without_device
struct Sum {
    float value;
    Sum(float start) : value(start) {}
};
    C[0] = Sum(C[0]).value; // refused: calling a __host__ function (Sum::Sum)

// ==== operator_without_device
struct Pair {
    float a, b;
};
float operator*(Pair p, float by) { return p.a * p.b * by; }
    C[0] = Pair{C[0], C[1]} * 2.0f; // refused: calling a __host__ function (operator*)

// ==== std_max
#include <algorithm>
    C[0] = std::max(C[0], C[1]); // refused: CUDA's own max()

// ==== std_swap
#include <utility>
    std::swap(C[0], C[1]); // refused: calling a __host__ function (std::swap)

// ==== std_array: whose elements are asked for
#include <array>
    std::array<float, 2> sums;
    sums[n % 2] = 0; // refused: calling a __host__ function (std::array::operator[])
    C[0] = sums[0];

// ==== std_vector
#include <vector>
    std::vector<float> terms(2); // refused: calling a __host__ function (std::vector
    C[0] = 1.0f;

// ==== std_cout
#include <iostream>
    if (C[0] < 0) std::cout << C[0]; // refused: std::cout

// ==== throws: an exception
    if (n < 0) throw 1; // refused: device code does not support exception handling
    C[0] = 1.0f;

// ==== calls_exit
#include <stdlib.h>
    if (n < 0) exit(1); // refused: return from the kernel
    C[0] = 1.0f;

// ==== calls_rand
#include <stdlib.h>
    C[0] = rand(); // refused: calling a __host__ function (rand)

// ==== calls_strlen
#include <string.h>
    const char *name = threadIdx.x ? "a" : "bc";
    C[0] = strlen(name); // refused: calling a __host__ function (strlen)

// ==== calls_memmove
#include <string.h>
    memmove(C, C + 1, sizeof *C); // refused: memcpy() can be called

// ==== calls_puts
#include <stdio.h>
    if (C[0] < 0) puts("negative"); // refused: printf() can be called

// ==== calls_fprintf
#include <stdio.h>
    fprintf(stderr, "%f", C[0]); // refused: stderr

// ==== synchronizes_in_kernel
    cudaDeviceSynchronize(); // refused: calling a __host__ function (cudaDeviceSynchronize)
    C[0] = 1.0f;

// ==== host_function_with_attributes: that would take the place of a mark, or have the call left out
__attribute__((const, patchable_function_entry(1, 0))) int one() { return 1; }
    if (n) one(); // refused: calling a __host__ function (one)

// ==== host_function_behind_a_pragma: by which it would be inlined
#pragma GCC optimize("O2")
static inline __attribute__((always_inline)) int one() { return 1; }
    C[0] = one(); // refused: calling a __host__ function (one)

// ==== host_function_where_no_thread_comes
#include <stdlib.h>
    const bool debug = false;
    if (debug) C[0] = rand(); // refused: calling a __host__ function (rand)

// ==== static_helper_of_a_used_one
static int one() { return 1; }
static __device__ int inner() { return one(); } // refused: calling a __host__ function (one)
static __device__ int outer() { return inner(); }
    C[0] = outer();

// ==== static_helper_by_its_address
static int one() { return 1; }
static __device__ int helper() { return one(); } // refused: calling a __host__ function (one)
__device__ int (*called)() = helper;
    C[0] = called();
