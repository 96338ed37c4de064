/* Shared memory in every spelling: must compile, lie where it should and be aligned;
 * the odd spellings are the point. */
// clang-format off

#define TILE 16
#define SHARED_FLOATS(name) __shared__ float name[TILE]

static_assert(sizeof(float4) == 16, "float4");

__shared__ float file_tile[TILE][TILE];
extern __shared__ float dynamic_floats[];
extern __shared__ int dynamic_ints[];
extern __shared__ __align__(16) float dynamic_aligned[];

template <typename T> static bool aligned(const T *p, size_t n) { return (uintptr_t)p % n == 0; }

__global__ void static_arrays() {
    const int n = 8;
    __shared__ float a[n][n + 1], b[n];
    static __shared__ float c[4];
    __shared__ static float d[4];
    volatile __shared__ int e;
    __shared__ volatile int f[2];
    __shared__ const float *g;
    __device__ __shared__ int h;
    float __shared__ i[4];
    float *__shared__ j;
    SHARED_FLOATS(k);
    __shared__ struct {
        float x;
        int y;
    } l;
    __shared__ float4 m[4];
    __shared__ dim3 o;
    static
    __shared__
    int
    p;

    a[7][8] = b[7] = c[3] = d[3] = i[3] = k[TILE - 1] = file_tile[15][15] = 1.0f;
    e = f[1] = h = l.y = p = 2;
    g = &a[0][0];
    j = &b[0];
    l.x = m[3].w = 3.0f;
    o.x = 4;
    CHECK(a[7][8] + b[7] + c[3] + d[3] + i[3] + k[TILE - 1] + file_tile[15][15] == 7.0f);
    CHECK(e + f[1] + h + l.y + p == 10);
    CHECK(g == &a[0][0] && j == &b[0] && l.x + m[3].w == 6.0f && o.x == 4);
}

__global__ void keeps_its_value(int step) {
    __shared__ int x;
    if (step == 0) x = 7;
    CHECK(x == 7);
}

__global__ void alignments() {
    __shared__ __align__(64) char a[3];
    __align__(64) __shared__ char b[3];
    __shared__ char c[3] __align__(64);
    __shared__ alignas(64) char d[3];
    alignas(64) __shared__ char e[3];
    __shared__ char __align__(64) f[3];
    CHECK(aligned(a, 64) && aligned(b, 64) && aligned(c, 64));
    CHECK(aligned(d, 64) && aligned(e, 64) && aligned(f, 64));
    a[0] = b[0] = c[0] = d[0] = e[0] = f[0] = 1;
}

/* volatile: gcc believes that arrays of two names lie in two places, and would not compare. */
static bool at_the_dynamic_symbol(const volatile void *volatile p) {
    return p == (const volatile void *)emulator_dynamic_shared;
}

__global__ void dynamic_1() {
    extern __shared__ float s[];
    extern __shared__ int t[], u[4];
    __shared__ extern unsigned char v[];
    extern volatile __shared__ short w[];
    volatile extern __shared__ __align__(16) double x[];
    extern __shared__ alignas(16) float4 y[];
    extern __shared__ float z[] __align__(16);
    CHECK(at_the_dynamic_symbol(s) && at_the_dynamic_symbol(t) && at_the_dynamic_symbol(u));
    CHECK(at_the_dynamic_symbol(v) && at_the_dynamic_symbol(w) && at_the_dynamic_symbol(x));
    CHECK(at_the_dynamic_symbol(y) && at_the_dynamic_symbol(z));
    CHECK(at_the_dynamic_symbol(dynamic_floats) && at_the_dynamic_symbol(dynamic_ints));
    CHECK(at_the_dynamic_symbol(dynamic_aligned));
    s[5] = 1.0f;
}

__global__ void dynamic_of_another_type() {
    extern __shared__ int s[], *t, u;
    extern __shared__ float v[][TILE];
    CHECK(at_the_dynamic_symbol(s) && at_the_dynamic_symbol(&t) && at_the_dynamic_symbol(&u));
    CHECK(at_the_dynamic_symbol(v) && (char *)&v[1][0] - (char *)v == TILE * sizeof(float));
}

/* Two names for one memory: the second store is the one that counts. */
__global__ void dynamic_names_overlap() {
    extern __shared__ float a[];
    extern __shared__ float b[];
    a[0] = 1.0f;
    b[0] = 2.0f;
    CHECK(a[0] == 2.0f);
}

namespace inner {
extern __shared__ float dynamic_inner[];
__global__ void dynamic_in_a_namespace() {
    extern __shared__ double s[];
    CHECK(at_the_dynamic_symbol(dynamic_inner) && at_the_dynamic_symbol(s));
}
} // namespace inner

__global__ void dynamic_2() {
    extern __shared__ float s[];
    CHECK(s[5] == 1.0f);
    float *as = s, *bs = &as[TILE];
    CHECK(bs - s == TILE);
}

/* As in CUDA's own samples. */
template <typename T> struct SharedMemory {
    __device__ __forceinline__ operator T *() {
        extern __shared__ int raw[];
        return (T *)raw;
    }
};

template <typename T, int N> __global__ void templated(T value) {
    __shared__ T tile[N][N + 1];
    tile[N - 1][N] = value;
    CHECK(tile[N - 1][N] == value);
    T *dynamic = SharedMemory<T>();
    dynamic[0] = value;
    CHECK(at_the_dynamic_symbol(dynamic) && dynamic[0] == value);
}

int main() {
    static_arrays<<<1, 1>>>();
    keeps_its_value<<<1, 1>>>(0);
    keeps_its_value<<<1, 1>>>(1);
    alignments<<<1, 1>>>();
    dynamic_1<<<1, 1, 64>>>();
    dynamic_2<<<1, 1, 64>>>();
    dynamic_of_another_type<<<1, 1, 64>>>();
    dynamic_names_overlap<<<1, 1, 64>>>();
    inner::dynamic_in_a_namespace<<<1, 1, 64>>>();
    templated<float, 4><<<1, 1>>>(1.0f);
    templated<double, 8><<<1, 1>>>(2.0);
    return failures;
}

__thread char emulator_dynamic_shared[48 * 1024] __attribute__((aligned(16)));
