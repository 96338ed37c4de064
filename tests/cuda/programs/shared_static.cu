/* Static __shared__ arrays, one and two dimensions, sized in every way that submissions use. */
#include "check.h"

#define MACRO 8
const int FILE_CONST = 8;
constexpr int CONSTEXPR = 8;
enum { ENUMERATOR = 8 };

/* Each kernel transposes an 8x8 matrix through shared memory. */
__global__ void by_macro(const float *in, float *out) {
    __shared__ float tile[MACRO][MACRO];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * MACRO + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * MACRO + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void by_local_const(const float *in, float *out) {
    const int SIZE = 8;
    const unsigned int PAD = 1;
    __shared__ float tile[SIZE][SIZE + PAD];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * SIZE + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * SIZE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void by_constants_of_the_file(const float *in, float *out) {
    __shared__ float first[FILE_CONST][CONSTEXPR], second[ENUMERATOR * CONSTEXPR];
    first[threadIdx.y][threadIdx.x] = in[threadIdx.y * CONSTEXPR + threadIdx.x];
    __syncthreads();
    second[threadIdx.y * CONSTEXPR + threadIdx.x] = first[threadIdx.x][threadIdx.y];
    __syncthreads();
    out[threadIdx.y * CONSTEXPR + threadIdx.x] = second[threadIdx.y * CONSTEXPR + threadIdx.x];
}

template <int SIZE, typename T> __global__ void by_template(const T *in, T *out) {
    __shared__ T tile[SIZE][SIZE];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * SIZE + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * SIZE + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

/* Shared memory in a function that a kernel calls, and at the file's level. */
__shared__ int of_the_file[32];
__device__ int through_helper(int value) {
    __shared__ int of_the_helper[32];
    of_the_helper[threadIdx.x] = value;
    of_the_file[threadIdx.x] = value * 10;
    __syncthreads();
    return of_the_helper[31 - threadIdx.x] + of_the_file[31 - threadIdx.x];
}
__global__ void in_helper(int *out) { out[threadIdx.x] = through_helper(threadIdx.x); }

template <class T> static bool transposed(const T *in, const T *out) {
    for (int i = 0; i < 64; ++i)
        if (out[i] != in[i % 8 * 8 + i / 8]) return false;
    return true;
}

int main() {
    float *in = visible<float>(64), *out = visible<float>(64);
    double *in_double = visible<double>(64), *out_double = visible<double>(64);
    int *sums = visible<int>(32);
    for (int i = 0; i < 64; ++i) in_double[i] = in[i] = i + 1;
    dim3 threads(8, 8);

    by_macro<<<1, threads>>>(in, out);
    RUN();
    CHECK(transposed(in, out));
    memset(out, 0, 64 * sizeof *out);
    by_local_const<<<1, threads>>>(in, out);
    RUN();
    CHECK(transposed(in, out));
    memset(out, 0, 64 * sizeof *out);
    by_constants_of_the_file<<<1, threads>>>(in, out);
    RUN();
    CHECK(transposed(in, out));
    memset(out, 0, 64 * sizeof *out);
    by_template<8, float><<<1, threads>>>(in, out);
    by_template<8, double><<<1, threads>>>(in_double, out_double);
    RUN();
    CHECK(transposed(in, out));
    CHECK(transposed(in_double, out_double));

    in_helper<<<1, 32>>>(sums);
    RUN();
    for (int i = 0; i < 32; ++i) EXPECT(sums[i], (31 - i) * 11);
    return verdict();
}
