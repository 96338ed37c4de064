/* Launches and kernels that the compiler refuses. */

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

// ==== kernel_returns_value: from a kernel that is void
__global__ void mysgemm(float *C) {
    C[threadIdx.x] = 1.0f;
    return 0; // refused: a value
}

// ==== va_start_without_ellipsis: a device function asks for arguments beyond its parameters
#include <stdarg.h>
__device__ float sum(int n) {
    va_list list; va_start(list, n); // refused: va_
    float first = va_arg(list, double);
    va_end(list);
    return first;
}
