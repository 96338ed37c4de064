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
    kernel<<<1, 1>>>(device);
    RUN();
    expect(__FILE__, line, "size on the host", host.size, bytes);
    expect(__FILE__, line, "alignment on the host", host.alignment, alignment);
    expect(__FILE__, line, "size on the device", device->size, bytes);
    expect(__FILE__, line, "alignment on the device", device->alignment, alignment);
}
#define LAYOUT(type, bytes, alignment)                                                             \
    check_layout(__LINE__, {sizeof(type), alignof(type)}, on_device<type>, bytes, alignment)

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
    LAYOUT(char1, 1, 1);
    LAYOUT(char2, 2, 2);
    LAYOUT(char3, 3, 1);
    LAYOUT(char4, 4, 4);
    LAYOUT(uchar1, 1, 1);
    LAYOUT(uchar2, 2, 2);
    LAYOUT(uchar3, 3, 1);
    LAYOUT(uchar4, 4, 4);
    LAYOUT(short1, 2, 2);
    LAYOUT(short2, 4, 4);
    LAYOUT(short3, 6, 2);
    LAYOUT(short4, 8, 8);
    LAYOUT(ushort1, 2, 2);
    LAYOUT(ushort2, 4, 4);
    LAYOUT(ushort3, 6, 2);
    LAYOUT(ushort4, 8, 8);
    LAYOUT(int1, 4, 4);
    LAYOUT(int2, 8, 8);
    LAYOUT(int3, 12, 4);
    LAYOUT(int4, 16, 16);
    LAYOUT(uint1, 4, 4);
    LAYOUT(uint2, 8, 8);
    LAYOUT(uint3, 12, 4);
    LAYOUT(uint4, 16, 16);
    LAYOUT(long1, 8, 8);
    LAYOUT(long2, 16, 16);
    LAYOUT(long3, 24, 8);
    LAYOUT(ulong1, 8, 8);
    LAYOUT(ulong2, 16, 16);
    LAYOUT(ulong3, 24, 8);
    LAYOUT(longlong1, 8, 8);
    LAYOUT(longlong2, 16, 16);
    LAYOUT(longlong3, 24, 8);
    LAYOUT(ulonglong1, 8, 8);
    LAYOUT(ulonglong2, 16, 16);
    LAYOUT(ulonglong3, 24, 8);
    LAYOUT(float1, 4, 4);
    LAYOUT(float2, 8, 8);
    LAYOUT(float3, 12, 4);
    LAYOUT(float4, 16, 16);
    LAYOUT(double1, 8, 8);
    LAYOUT(double2, 16, 16);
    LAYOUT(double3, 24, 8);
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
    float2 g = make_float2(1.5f, 2.5f);
    EXPECT(g.x + g.y, 4.0f);
    float3 h = make_float3(1, 2, 3);
    EXPECT(h.z, 3.0f);
    int4 i = make_int4(1, -2, 3, -4);
    EXPECT(i.y + i.w, -6);
    int2 j = make_int2(7, 8);
    EXPECT(j.x * j.y, 56);
    uint2 k = make_uint2(4000000000u, 1);
    EXPECT(k.x, 4000000000u);
    uchar4 l = make_uchar4(255, 1, 2, 3);
    EXPECT((int)l.x, 255);
    char4 m = make_char4(-1, 0, 1, 2);
    EXPECT((int)m.x, -1);
    double2 n = make_double2(0.1, 0.2);
    EXPECT(n.x + n.y, 0.1 + 0.2);
    longlong2 o = make_longlong2(1LL << 40, 2);
    EXPECT(o.x, 1LL << 40);
    float1 p = make_float1(9);
    EXPECT(p.x, 9.0f);

    float4 copy = f, braces = {1, 2, 3}, zero = {}, cast = float4{5, 6, 7, 8};
    copy.x += 10;
    EXPECT(copy.x + braces.w + zero.x + cast.w, 19.0f);
    uint3 from_dim3 = dim3(4, 5);
    EXPECT(from_dim3.z, 1u);
    return verdict();
}
