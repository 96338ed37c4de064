/* extern __shared__: in a function, at the file's level, several in one program, its size from the
 * launch's third argument, and one array cut into several. */
#include "check.h"

extern __shared__ float of_the_file[];

__global__ void at_file_scope(float *out) {
    of_the_file[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = of_the_file[blockDim.x - 1 - threadIdx.x];
}

__global__ void at_function_scope(int *out) {
    extern __shared__ int of_the_function[];
    of_the_function[threadIdx.x] = threadIdx.x * 2;
    __syncthreads();
    out[threadIdx.x] = of_the_function[blockDim.x - 1 - threadIdx.x];
}

/* The usual two tiles in one array. */
__global__ void two_tiles(const float *a, const float *b, float *c, int tile) {
    extern __shared__ float both[];
    float *A_s = both;
    float *B_s = &both[tile * tile];
    int at = threadIdx.y * tile + threadIdx.x;
    A_s[at] = a[at];
    B_s[at] = b[at];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < tile; ++i) sum += A_s[threadIdx.y * tile + i] * B_s[i * tile + threadIdx.x];
    c[at] = sum;
}

/* Arrays of several types, the widest first, by casts of one array of bytes. */
__global__ void cut_by_casts(double *out) {
    extern __shared__ __align__(16) unsigned char bytes[];
    double *doubles = (double *)bytes;
    int *ints = reinterpret_cast<int *>(doubles + blockDim.x);
    char *chars = (char *)&ints[blockDim.x];
    int i = threadIdx.x, other = (threadIdx.x + 1) % blockDim.x;
    doubles[i] = i + 0.5;
    ints[i] = i * 1000;
    chars[i] = (char)i;
    __syncthreads();
    out[i] = doubles[other] + ints[other] + chars[other];
}

/* All extern __shared__ arrays of a program are the same memory. */
__device__ float *in_helper() {
    extern __shared__ float of_the_helper[];
    return of_the_helper;
}
__global__ void same_memory(int *out) { *out = in_helper() == of_the_file; }

/* Static and dynamic shared memory do not overlap. */
__global__ void with_static(int *out, int n) {
    __shared__ int fixed[64];
    extern __shared__ int sized[];
    for (int i = threadIdx.x; i < 64; i += blockDim.x) fixed[i] = 1;
    for (int i = threadIdx.x; i < n; i += blockDim.x) sized[i] = 1000;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < 64; ++i) *out += fixed[i];
        for (int i = 0; i < n; ++i) *out += sized[i];
    }
}

template <class T> __global__ void in_template(T *out) {
    extern __shared__ char raw[];
    T *values = (T *)raw;
    values[threadIdx.x] = (T)(threadIdx.x + 0.25);
    __syncthreads();
    out[threadIdx.x] = values[threadIdx.x ^ 1];
}

int main() {
    float *f = visible<float>(256), *a = visible<float>(256), *b = visible<float>(256);
    int *n = visible<int>(256), *sum = visible<int>(1), *equal = visible<int>(1);
    double *d = visible<double>(256), *t = visible<double>(2);

    at_file_scope<<<1, 256, 256 * sizeof(float)>>>(f);
    at_function_scope<<<1, 256, 256 * sizeof(int)>>>(n);
    RUN();
    for (int i = 0; i < 256; ++i) {
        EXPECT(f[i], 255.0f - i);
        EXPECT(n[i], 510 - 2 * i);
    }

    for (int i = 0; i < 256; ++i) {
        a[i] = 1;
        b[i] = i % 16;
    }
    size_t bytes = 2 * 16 * 16 * sizeof(float);
    two_tiles<<<1, dim3(16, 16), bytes>>>(a, b, f, 16);
    RUN();
    for (int i = 0; i < 256; ++i) EXPECT(f[i], 16.0f * (i % 16));

    cut_by_casts<<<1, 100, 100 * (sizeof(double) + sizeof(int) + 1)>>>(d);
    same_memory<<<1, 1, 4>>>(equal);
    with_static<<<1, 32, 1000 * sizeof(int)>>>(sum, 1000);
    in_template<double><<<1, 2, 2 * sizeof(double)>>>(t);
    RUN();
    for (int i = 0; i < 100; ++i) EXPECT(d[i], (i + 1) % 100 * 1002.0 + 0.5);
    EXPECT(*equal, 1);
    EXPECT(*sum, 64 + 1000000);
    EXPECT(t[0], 1.25);
    EXPECT(t[1], 0.25);
    return verdict();
}
