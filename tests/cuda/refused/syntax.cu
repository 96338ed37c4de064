/* Launches, kernels and shared variables as CUDA's syntax does not have them, and missing braces. */

// ==== launch_with_two_brackets: two angle brackets on each side
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    dim3 grid(1), block(16);
    mysgemm<<grid, block>>(C); // refused: three angle brackets
}

// ==== launch_of_template_with_two_brackets
template <int tile> __global__ void mysgemm(float *C) { C[threadIdx.x] = tile; }
void basicSgemm(float *C) {
    if (C)
        mysgemm<4><<1, 16>>(C); // refused: three angle brackets
}

// ==== launch_opens_with_two_brackets: it closes with three
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<1, 16>>>(C); // refused: three angle brackets
}

// ==== launch_closes_with_two_brackets: it opens with three
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16>>(C); // refused: not closed by >>>
}

// ==== launch_in_front_of_the_name: the brackets are before the name of the kernel
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    <<<1, 16>>>mysgemm(C); // refused: not closed by >>>(arguments)
}

// ==== launch_without_arguments
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16>>>; // refused: not closed by >>>(arguments)
}

// ==== launch_with_five_values: one too many between the brackets
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16, 0, 0, 1>>>(C); // refused: a launch has two to four values
}

// ==== launch_with_too_few_arguments: without the last one
__global__ void mysgemm(int n, const float *A, float *C) { C[threadIdx.x] = n * A[threadIdx.x]; }
void basicSgemm(int n, const float *A, float *C) {
    mysgemm<<<1, 16>>>(n, A); // refused: this launch has 2 arguments, and the kernel mysgemm has 3 parameters
}

// ==== kernel_without_launch: the wrapper calls the kernel without <<<grid, block>>>
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm(C); // refused: a __global__ function call must be configured
}

// ==== kernel_called_by_kernel
__global__ void clear(float *p) { *p = 0.0f; }
__global__ void mysgemm(float *C) {
    clear(C); // refused: a __global__ function call must be configured
}

// ==== no_global: the kernel has no __global__
void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16>>>(C); // refused: a host function call cannot be configured
}

// ==== device_for_global: the kernel is __device__ instead of __global__
__device__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16>>>(C); // refused: a __device__ function call cannot be configured
}

// ==== launches_helper: the wrapper launches a helper of the kernel's
__device__ void nothing(float *) {}
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    mysgemm<<<1, 16>>>(C);
    nothing<<<1, 1>>>(C); // refused: a __device__ function call cannot be configured
}

// ==== kernel_declared_with_float: declared, though not defined, with that return type
__global__ float mysgemm(float *C); // refused: must return void
__global__ void other(float *C) { C[threadIdx.x] = 1.0f; }

// ==== kernel_returns_auto: its return type is to be deduced
__global__ auto mysgemm(float *C) // refused: must return void
{
    C[threadIdx.x] = 1.0f;
}

// ==== kernel_returns_behind_arrow: its return type is behind the parameters
__global__ auto mysgemm(float *C) -> float // refused: must return void
{
    return C[threadIdx.x];
}

// ==== kernel_returns_pointer
__global__ void *mysgemm(float *C) // refused: must return void
{
    C[threadIdx.x] = 1.0f;
    return C;
}

// ==== kernel_returns_value: from a kernel that is void
__global__ void mysgemm(float *C) {
    C[threadIdx.x] = 1.0f;
    return 0; // refused: a value
}

// ==== kernel_template_returns_bool
template <int tile> static __global__ bool mysgemm(float *C) // refused: must return void
{
    C[threadIdx.x] = tile;
    return true;
}
void basicSgemm(float *C) { mysgemm<16><<<1, 16>>>(C); }

// ==== kernel_with_ellipsis
__global__ void mysgemm(float *C, ...) // refused: a variable number of arguments (...)
{
    C[threadIdx.x] = 1.0f;
}

// ==== kernel_with_ellipsis_without_comma
__global__ void mysgemm(float *C, int n...) // refused: a variable number of arguments (...)
{
    C[threadIdx.x] = n;
}

// ==== kernel_template_with_ellipsis: behind a pack
template <class... T> __global__ void mysgemm(float *C, T... more, ...) // refused: a variable number of arguments (...)
{
    C[threadIdx.x] = sizeof...(more);
}

// ==== va_start_without_ellipsis: a device function asks for arguments beyond its parameters
#include <stdarg.h>
__device__ float sum(int n) {
    va_list list; va_start(list, n); // refused: va_
    float first = va_arg(list, double);
    va_end(list);
    return first;
}

// ==== shared_initializer
__global__ void mysgemm(float *C) {
    __shared__ float sum = 0; // refused: cannot have an initializer
    C[threadIdx.x] = sum;
}

// ==== shared_initializer_at_file_scope
__shared__ float tile[16];
__shared__ float sum = 1; // refused: cannot have an initializer
__global__ void mysgemm(float *C) { C[threadIdx.x] = tile[threadIdx.x] + sum; }

// ==== shared_initializer_braces
__global__ void mysgemm(float *C) {
    __shared__ float tile[16]{}; // refused: cannot have an initializer
    C[threadIdx.x] = tile[threadIdx.x];
}

// ==== shared_initializer_constant
__global__ void mysgemm(float *C) {
    static __shared__ const float one = 1; // refused: cannot have an initializer
    C[threadIdx.x] = one;
}

// ==== shared_initializer_constructor: which is to be called with an argument
struct tile {
    float corner;
    __device__ tile(float x) { corner = x; }
};
__global__ void mysgemm(float *C) {
    __shared__ tile A_s(1.0f); // refused: cannot have an initializer
    C[threadIdx.x] = A_s.corner;
}

// ==== shared_initializer_empty_list
__global__ void mysgemm(float *C) {
    __shared__ float tile[16] = {}; // refused: cannot have an initializer
    C[threadIdx.x] = tile[threadIdx.x];
}

// ==== shared_initializer_in_template: of a template parameter's type
template <class T> __global__ void mysgemm(T *C) {
    __shared__ T sum{}; // refused: cannot have an initializer
    C[threadIdx.x] = sum;
}
void basicSgemm(float *C) { mysgemm<<<1, 16>>>(C); }

// ==== shared_initializer_parentheses
__global__ void mysgemm(float *C) {
    __shared__ float sum(0); // refused: cannot have an initializer
    C[threadIdx.x] = sum;
}

// ==== shared_initializer_pointer: a shared pointer to a shared array
__global__ void mysgemm(float *C) {
    __shared__ float tile[16];
    __shared__ float *row = tile; // refused: cannot have an initializer
    C[threadIdx.x] = row[threadIdx.x];
}

// ==== shared_initializer_second: of two variables
__global__ void mysgemm(float *C) {
    __shared__ float tile[16], sum = 2; // refused: cannot have an initializer
    C[threadIdx.x] = tile[threadIdx.x] + sum;
}

// ==== brace_missing_in_kernel: the wrapper with its launch begins inside it
__global__ void mysgemm(float *C)
{
    for (int i = 0; i < 16; ++i) {
        C[i] = i;
}
void basicSgemm(float *C) { // refused: begins inside mysgemm, whose { in line 2 is still open
    mysgemm<<<1, 1>>>(C);
}

// ==== brace_missing_before_extern_c: in the kernel, and extern "C" follows
__global__ void mysgemm(float *C) {
    if (threadIdx.x < 8) {
        C[threadIdx.x] = 1.0f;
}
extern "C" void basicSgemm(float *C) { // refused: begins inside mysgemm, whose { in line 1
    mysgemm<<<1, 16>>>(C);
}

// ==== brace_missing_in_helper: the kernel begins inside it
__device__ float at_least_zero(float x) {
    if (x < 0) {
        return 0;
    return x;
}
__global__ void mysgemm(float *C) { // refused: begins inside at_least_zero, whose { in line 1
    C[threadIdx.x] = at_least_zero(C[threadIdx.x]);
}

// ==== brace_missing_in_wrapper: a function follows it
__global__ void mysgemm(float *C) { C[threadIdx.x] = 1.0f; }
void basicSgemm(float *C) {
    if (C) {
        mysgemm<<<1, 16>>>(C);
}
static int divide_up(int a, int b) { // refused: begins inside basicSgemm, whose { in line 2
    return (a + b - 1) / b;
}
