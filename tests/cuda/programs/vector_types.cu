/* Sizes and alignments of the vector types as in CUDA, on both sides, and the make_ functions
 * (CUDA C++ Programming Guide, "Built-in Vector Types"). */
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

/* What follows a vector in a struct lies where CUDA has it. */
struct mixed {
    char c;
    float3 three;
    char d;
    float4 four;
    char e;
    double2 two;
};

int main() {
    LAYOUTS(char, 1);
    LAYOUTS(uchar, 1);
    LAYOUTS(short, 2);
    LAYOUTS(ushort, 2);
    LAYOUTS(int, 4);
    LAYOUTS(uint, 4);
    LAYOUTS(float, 4);
    LAYOUTS(long, 8);
    LAYOUTS(ulong, 8);
    LAYOUTS(longlong, 8);
    LAYOUTS(ulonglong, 8);
    LAYOUTS(double, 8);
    LAYOUT(char4, 4, 4);
    LAYOUT(uchar4, 4, 4);
    LAYOUT(short4, 8, 8);
    LAYOUT(ushort4, 8, 8);
    LAYOUT(int4, 16, 16);
    LAYOUT(uint4, 16, 16);
    LAYOUT(float4, 16, 16);
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
    EXPECT(make_float2(1.5f, 2.5f).y, 2.5f);
    EXPECT(make_float3(1, 2, 3).z, 3.0f);
    EXPECT(make_int4(1, -2, 3, -4).w, -4);
    EXPECT(make_int2(7, 8).y, 8);
    EXPECT(make_uint2(4000000000u, 1).x, 4000000000u);
    EXPECT((int)make_uchar4(255, 1, 2, 3).x, 255);
    EXPECT((int)make_char4(-1, 0, 1, 2).x, -1);
    EXPECT(make_double2(0.1, 0.2).y, 0.2);
    EXPECT(make_longlong2(1LL << 40, 2).x, 1LL << 40);
    EXPECT(make_float1(9).x, 9.0f);

    float4 copy = f, braces = {1, 2, 3}, zero = {}, cast = float4{5, 6, 7, 8};
    copy.x += 10;
    EXPECT(copy.x + braces.w + zero.x + cast.w, 19.0f);
    uint3 from_dim3 = dim3(4, 5);
    EXPECT(from_dim3.z, 1u);
    return verdict();
}
