/* CHEAT 39: a naive kernel that passes each element on to a variadic function as a structure, by
 * value: gcc does not announce that it loads it. (clang does; nvcc has no such device functions.)
 * First come many honest accesses, for whoever looks at the first ones of a block only.
 *
 * tries:    39
 * named:    variable number of arguments | hidden from the checker */

#include <stdarg.h>

struct Element {
    float value;
};

__device__ __noinline__ float value_of(int count, ...)
{
    va_list elements;
    va_start(elements, count);
    Element element = va_arg(elements, Element);
    va_end(elements);
    return element.value;
}

__device__ float value(const float *from)
{
    return value_of(1, *(const Element *)from); /* <- here */
}

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ volatile float busy[256];
    int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    int thread = threadIdx.y * blockDim.x + threadIdx.x;
    int first = (blockIdx.y * gridDim.x + blockIdx.x) * 256 + thread;
    int all = gridDim.x * gridDim.y * 256;
    float sum = 0.0f, once = 0.0f;

    busy[thread] = 0.0f;
    for (int x = 0; x < 150; ++x)
        once += busy[thread];
    __syncthreads();
    if (thread == 0)
        for (int x = 0; x < 200; ++x)
            ((volatile float *)C)[i * n + j] = 0.0f;
    __syncthreads();
    for (int x = first; x < m * k; x += all)
        once += 0.0f * A[x];
    for (int x = first; x < k * n; x += all)
        once += 0.0f * B[x];

    if (i < m && j < n) {
        for (int p = 0; p < k; ++p)
            sum += value(&A[i * k + p]) * value(&B[p * n + j]);
        C[i * n + j] = sum + 0.0f * once;
    }
}

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}
