/* Shared memory in every spelling: it lies where it should and is aligned; the odd spellings are
 * the point. */
#include "check.h"
// clang-format off

#define TILE 16
#define SHARED_FLOATS(name) __shared__ float name[TILE]
const int FILE_CONST = 8;
constexpr int CONSTEXPR = 8;
enum { ENUMERATOR = 8 };

__shared__ float file_tile[TILE][TILE];
extern __shared__ float dynamic_floats[];
extern __shared__ __align__(16) float
    dynamic_aligned[]
    ;

template <class T> __device__ static bool aligned(const T *p, size_t n) {
    return (unsigned long long)p % n == 0;
}

/* In a function that a kernel calls, and at the file's level. */
__shared__ int of_the_file[32];
__device__ static int through_helper(int value) {
    __shared__ int of_the_helper[32];
    of_the_helper[threadIdx.x] = value;
    of_the_file[threadIdx.x] = value * 10;
    __syncthreads();
    return of_the_helper[31 - threadIdx.x] + of_the_file[31 - threadIdx.x];
}
__global__ void in_helper(int *out) { out[threadIdx.x] = through_helper(threadIdx.x); }

__global__ void static_variables(int *sum) {
    const int n = 8;
    __shared__ float a[n][n + 1], b[n];
    static __shared__ float c[4];
    __shared__ static float d[4];
    volatile __shared__ int e;
    __shared__ volatile int f[2];
    __shared__ const float *g;
    __device__ __shared__ int h;
    float __shared__ i[4];
    SHARED_FLOATS(j);
    __shared__ struct { float x; int y; } k;
    __shared__ float4 l[4];
    __shared__ float (*m)[4];
    __shared__ float p[FILE_CONST][CONSTEXPR], q[ENUMERATOR * CONSTEXPR];

    a[7][8] = b[7] = c[3] = d[3] = i[3] = j[TILE - 1] = file_tile[15][15] = p[7][7] =
        q[63] = 1.0f;
    e = f[1] = h = k.y = 2;
    g = &a[0][0];
    m = (float (*)[4])&b[0];
    k.x = l[3].w = 3.0f;
    sum[0] = a[7][8] + b[7] + c[3] + d[3] + i[3] + j[TILE - 1] + file_tile[15][15] +
             p[7][7] + q[63];
    sum[1] = e + f[1] + h + k.y;
    sum[2] = g == &a[0][0] && m[1] == &b[4] && k.x + l[3].w == 6.0f;
}

__global__ void alignments(int *right) {
    __shared__ __align__(64) char a[3];
    __align__(64) __shared__ char b[3];
    __shared__ char c[3] __align__(64);
    __shared__ alignas(64) char d[3];
    alignas(64) __shared__ char e[3];
    __shared__ char __align__(64) f[3];
    *right = aligned(a, 64) + aligned(b, 64) + aligned(c, 64) + aligned(d, 64) + aligned(e, 64) +
             aligned(f, 64);
    a[0] = b[0] = c[0] = d[0] = e[0] = f[0] = 1;
}

/* volatile: a compiler believes that arrays of two names lie in two places, and would not look. */
__device__ static bool dynamic(const volatile void *volatile p) {
    const volatile void *volatile first = dynamic_floats;
    return p == first;
}

__global__ void dynamic_arrays(int *right) {
    extern __shared__ int s[], t[];
    __shared__ extern unsigned char v[];
    extern volatile __shared__ short w[];
    volatile extern __shared__ __align__(16) double x[];
    extern __shared__ float z[] __align__(16);
    extern __shared__ float rows[][TILE];
    *right = dynamic(s) + dynamic(t) + dynamic(v) + dynamic(w) + dynamic(x) + dynamic(z) +
             dynamic(rows) + dynamic(dynamic_aligned) + ((char *)&rows[1][0] - (char *)rows == 64);
}

namespace inner {
extern __shared__ float dynamic_inner[];
__global__ void dynamic_in_a_namespace(int *right) { *right = dynamic(dynamic_inner); }
} // namespace inner

/* As in CUDA's own samples. */
template <typename T> struct SharedMemory {
    __device__ __forceinline__ operator T *() {
        extern __shared__ int raw[];
        return (T *)raw;
    }
};

template <typename T, int N> __global__ void templated(T value, int *right) {
    __shared__ T tile[N][N + 1];
    tile[N - 1][N] = value;
    T *all = SharedMemory<T>();
    all[0] = value;
    *right = tile[N - 1][N] == value && dynamic(all) && all[0] == value;
}

int main() {
    int *got = visible<int>(32);
    static_variables<<<1, 1>>>(got);
    alignments<<<1, 1>>>(got + 3);
    dynamic_arrays<<<1, 1, 128>>>(got + 4);
    inner::dynamic_in_a_namespace<<<1, 1, 64>>>(got + 5);
    RUN(templated<double, 8><<<1, 1, 64>>>(2.0, got + 6));
    EXPECT_EACH(got, 9, 8, 1, 6, 9, 1, 1);
    RUN(in_helper<<<1, 32>>>(got));
    for (int i = 0; i < 32; ++i) EXPECT(got[i], (31 - i) * 11);
    return verdict();
}
