/* What a launch does with its arguments: conversions as in a call, copies, null pointers. */
#include "check.h"

struct inner {
    float values[5];
};
struct big {
    int n;
    inner in;
    char text[40];
};
class counted {
  public:
    int value;
    __host__ __device__ explicit counted(int v) : value(v) {}
};
enum color { RED, GREEN = 7 };
enum class shape : short { ROUND = 9 };

__global__ void converts(int i, float f, double d, unsigned u, char c, bool b, long long l,
                         double *out) {
    out[0] = i;
    out[1] = f;
    out[2] = d;
    out[3] = u;
    out[4] = c;
    out[5] = b;
    out[6] = (double)l;
}
__global__ void nulls(const int *a, float *b, void *c, int *out) {
    *out = (a == NULL) + (b == nullptr) + !c;
}
__global__ void structs(big b, counted c, color k, shape s, int *out) {
    b.n += 1; /* the kernel's own copy */
    out[threadIdx.x] = b.n + (int)b.in.values[4] + b.text[0] + c.value + k + (int)s;
}
__global__ void adds_const(const int *in, int *const out) {
    out[threadIdx.x] = in[threadIdx.x] + 1;
}
__global__ void pointer_to_pointer(int **rows) { rows[1][threadIdx.x] = 3; }
__global__ void array_parameter(int values[], int n) { values[threadIdx.x] = n; }
__global__ void nothing() {}
__global__ void twelve(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k,
                       int *out) {
    *out = a + b + c + d + e + f + g + h + i + j + k;
}
__global__ void changes_its_own(int n, int *out) {
    n += threadIdx.x;
    n *= 2;
    out[threadIdx.x] = n;
}

int main() {
    double *d = visible<double>(8);
    int *out = visible<int>(64), **rows = visible<int *>(2);

    double fraction = 3.9; // compilers warn about a literal
    converts<<<1, 1>>>(fraction, 2, 5.5f, 7, 'A', 17, 1u << 31, d);
    RUN();
    const double expected[] = {3, 2, 5.5, 7, 65, 1, 2147483648.0};
    for (int i = 0; i < 7; ++i) EXPECT(d[i], expected[i]);
    size_t size = 12;
    unsigned short narrow = 13;
    int minus_one = -1;
    converts<<<1, 1>>>(size, narrow, size * 2, minus_one, 66, false, -5, d);
    RUN();
    const double again[] = {12, 13, 24, 4294967295.0, 66, 0, -5};
    for (int i = 0; i < 7; ++i) EXPECT(d[i], again[i]);

    nulls<<<1, 1>>>(NULL, nullptr, 0, out);
    RUN();
    EXPECT(out[0], 3);
    nulls<<<1, 1>>>(0, NULL, NULL, out);
    RUN();
    EXPECT(out[0], 3);
    nulls<<<1, 1>>>(out, 0, out, out); /* int* becomes const int* and void* */
    RUN();
    EXPECT(out[0], 1);

    big b = {100, {{0, 0, 0, 0, 50}}, "A"};
    structs<<<1, 64>>>(b, counted(5), GREEN, shape::ROUND, out);
    b.n = 0; /* after the launch: the kernel must not see it */
    RUN();
    EXPECT(out[63], 101 + 50 + 65 + 5 + 7 + 9);

    adds_const<<<1, 64>>>(out, out);
    RUN();
    EXPECT(out[63], 238);
    rows[0] = NULL;
    rows[1] = out;
    pointer_to_pointer<<<1, 64>>>(rows);
    RUN();
    EXPECT(out[63], 3);
    array_parameter<<<1, 64>>>(out, 4);
    nothing<<<1, 1>>>();
    RUN();
    EXPECT(out[63], 4);
    twelve<<<1, 1>>>(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, out);
    changes_its_own<<<1, 63>>>(10, out + 1);
    RUN();
    EXPECT(out[0], 66);
    EXPECT(out[63], 144);
    return verdict();
}
