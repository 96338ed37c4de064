/* Sizes and alignments of the vector types as in CUDA, on both sides, and the make_ functions (CUDA
 * C++ Programming Guide, "Built-in Vector Types"). And float arrays read and written through float4
 * and float2 pointers, in global, shared and local memory, as kernels that move four elements at
 * once do. __ldg and its relatives load what a plain read loads. */
#include "check.h"

struct layout {
    size_t size, alignment;
};
template <class T> __global__ void on_device(layout *out) {
    out->size = sizeof(T);
    out->alignment = alignof(T);
}

static void check_layout(int line, layout host, void (*kernel)(layout *), size_t bytes,
                         size_t alignment) {
    layout *device = visible<layout>(1);
    RUN(kernel<<<1, 1>>>(device));
    expect(__FILE__, line, "size on the host", host.size, bytes);
    expect(__FILE__, line, "alignment on the host", host.alignment, alignment);
    expect(__FILE__, line, "size on the device", device->size, bytes);
    expect(__FILE__, line, "alignment on the device", device->alignment, alignment);
}
#define LAYOUT(type, bytes, alignment)                                                             \
    check_layout(__LINE__, {sizeof(type), alignof(type)}, on_device<type>, bytes, alignment)

/* Of one, two and three elements: only those of two are aligned as a whole. */
#define LAYOUTS(type, bytes)                                                                       \
    LAYOUT(type##1, bytes, bytes);                                                                 \
    LAYOUT(type##2, 2 * bytes, 2 * bytes);                                                         \
    LAYOUT(type##3, 3 * bytes, bytes)

#define LAYOUTS_UP_TO_4(type, bytes)                                                               \
    LAYOUTS(type, bytes);                                                                          \
    LAYOUT(type##4, 4 * bytes, 4 * bytes)

/* What follows a vector in a struct lies where CUDA has it. */
struct mixed {
    char c;
    float3 three;
    char d;
    float4 four;
    char e;
    double2 two;
};

static void types() {
    LAYOUTS_UP_TO_4(char, 1);
    LAYOUTS_UP_TO_4(uchar, 1);
    LAYOUTS_UP_TO_4(short, 2);
    LAYOUTS_UP_TO_4(ushort, 2);
    LAYOUTS_UP_TO_4(int, 4);
    LAYOUTS_UP_TO_4(uint, 4);
    LAYOUTS_UP_TO_4(float, 4);
    LAYOUTS(long, 8);
    LAYOUTS(ulong, 8);
    LAYOUTS(longlong, 8);
    LAYOUTS(ulonglong, 8);
    LAYOUTS(double, 8);
    LAYOUT(dim3, 12, 4);
    LAYOUT(mixed, 80, 16);
#if defined CUDA_EMULATOR || CUDART_VERSION < 13000
    /* nvcc 13 warns: it has replaced these by double4_16a, double4_32a and so on. */
    LAYOUT(double4, 32, 16);
    LAYOUT(longlong4, 32, 16);
    LAYOUT(ulonglong4, 32, 16);
    LAYOUT(long4, 32, 16);
    LAYOUT(ulong4, 32, 16);
#endif

    float4 f = make_float4(1, 2, 3, 4);
    EXPECT(f.x + 10 * f.y + 100 * f.z + 1000 * f.w, 4321.0f);
    EXPECT(make_float3(1, 2, 3).z, 3.0f);
    EXPECT(make_int4(1, -2, 3, -4).w, -4);
    EXPECT(make_uint2(4000000000u, 1).x, 4000000000u);
    EXPECT((int)make_char4(-1, 0, 1, 2).x, -1);
    EXPECT(make_double2(0.1, 0.2).y, 0.2);
    EXPECT(make_longlong2(1LL << 40, 2).x, 1LL << 40);
    EXPECT(make_float1(9).x, 9.0f);

    float4 copy = f, braces = {1, 2, 3}, zero = {}, cast = float4{5, 6, 7, 8};
    copy.x += 10;
    EXPECT(copy.x + braces.w + zero.x + cast.w, 19.0f);
}

#define FETCH_FLOAT4(pointer) (reinterpret_cast<float4 *>(&(pointer))[0])

__global__ void through_shared(float *data) {
    __shared__ __align__(16) float tile[16][16];
    float registers[4];
    int row = threadIdx.x / 4, col = threadIdx.x % 4 * 4;
    FETCH_FLOAT4(tile[row][col]) = FETCH_FLOAT4(data[row * 16 + col]);
    __syncthreads();
    for (int i = 0; i < 4; ++i) registers[i] = tile[col + i][row];
    *(float2 *)&data[row * 16 + col] = make_float2(registers[0], registers[1]);
    *(float2 *)&data[row * 16 + col + 2] = make_float2(registers[2], registers[3]);
}

/* Written as floats and read as float4 in the same thread: the order must be kept. */
__global__ void both_ways(float *data, float *out) {
    float *mine = data + threadIdx.x * 4;
    for (int i = 0; i < 4; ++i) mine[i] = i + 1;
    float4 v = *(float4 *)mine;
    *(float4 *)mine = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
    out[threadIdx.x] = mine[0] + mine[1] + mine[2] + mine[3] + v.w;
}

__global__ void packed(const uchar4 *pixels, int4 *sums) {
    uchar4 p = pixels[threadIdx.x];
    int4 *sum = &sums[threadIdx.x];
    sum->x = p.x + p.y;
    sum->y = p.z - p.w;
    sum->z = *(const int *)&p;
}

__global__ void loads(const float *__restrict__ in, const float4 *fours, const int *ints,
                      float *out) {
    int i = threadIdx.x;
    float4 four = __ldg(&fours[i]);
    out[i * 4] = __ldg(in + i) + __ldg(&ints[i]);
    out[i * 4 + 1] = four.x + four.w;
    out[i * 4 + 2] = __ldca(in + i) + __ldcs(in + i) + __ldcg(in + i);
    __stcs(&out[i * 4 + 3], 5.0f);
    __stwt(&out[i * 4 + 3], __ldlu(&out[i * 4 + 3]));
    __stwb(&out[i * 4 + 3], __ldcv(&out[i * 4 + 3]) + 1);
}

static void accesses() {
    enum { N = 256 };
    float *in = visible<float>(N), *out = visible<float>(N);
    for (int i = 0; i < N; ++i) in[i] = i;
    RUN(through_shared<<<1, 64>>>(in));
    for (int i = 0; i < N; ++i) EXPECT(in[i], (float)(i % 16 * 16 + i / 16));
    RUN(both_ways<<<1, 32>>>(in, out));
    EXPECT(out[31], 24.0f);

    uchar4 *pixels = visible<uchar4>(4);
    int4 *sums = visible<int4>(4);
    pixels[3] = make_uchar4(200, 100, 5, 6);
    RUN(packed<<<1, 4>>>(pixels, sums));
    EXPECT(sums[3].x, 300);
    EXPECT(sums[3].y, -1);
    EXPECT(sums[3].z, 200 + (100 << 8) + (5 << 16) + (6 << 24));

    int *ints = visible<int>(64);
    for (int i = 0; i < N; ++i) in[i] = i;
    for (int i = 0; i < 64; ++i) ints[i] = 1000;
    RUN(loads<<<1, 64>>>(in, (const float4 *)in, ints, out));
    for (int i = 0; i < 64; ++i) EXPECT_EACH(out + i * 4, i + 1000.0f, i * 8 + 3.0f, i * 3.0f, 6);
}

int main() {
    types();
    accesses();
    return verdict();
}
