/* What a launch does with its arguments: conversions as in a call, copies, null pointers. */
#include "check.h"

struct big {
    int n;
    float values[5];
    char text[40];
};
class counted {
  public:
    int value;
    __host__ __device__ explicit counted(int v) : value(v) {}
};
static int copies, destroyed;
class owner { /* its copies and their ends are the host's alone */
  public:
    int *p, n;
    owner(int *p_, int n_) : p(p_), n(n_) {}
    owner(const owner &other) : p(other.p), n(other.n) { copies++; }
    ~owner() { destroyed++; }
};
enum color { RED, GREEN = 7 };
enum class shape : short { ROUND = 9 };

__global__ void converts(int i, float f, double d, unsigned u, char c, bool b, long long l,
                         double *out) {
    store(out, i, f, d, u, c, b, (double)l);
}
__global__ void nulls(const int *a, float *b, void *c, int *out) {
    *out = (a == NULL) + (b == nullptr) + !c;
}
__global__ void structs(big b, counted c, color k, shape s, int *out) {
    b.n += 1; /* the kernel's own copy */
    out[threadIdx.x] = b.n + (int)b.values[4] + b.text[0] + c.value + k + (int)s;
}
__global__ void pointer_to_pointer(int **rows) { rows[1][threadIdx.x] = 3; }
__global__ void nothing(void) {}
__global__ void text(const char *s, int *out) { *out = s != NULL; }
__global__ void owners(owner a, int by, owner b) {
    a.n += by; /* the thread's own */
    if (threadIdx.x < a.n) a.p[threadIdx.x] = a.n + b.n;
}
__global__ void references(int &x, const int *const &p) { x += *p; }
__global__ void grid_of(dim3 d, int *out) { *out = d.x * 100 + d.y; }
__global__ void two(int a, int b, int *out) { *out = a * 10 + b; }
template <class A, class B> static int sum(A a, B b) { return a + b; }
#define ONE_AND(x) 1, x
int main() {
    double *d = visible<double>(8);
    int *out = visible<int>(64), **rows = visible<int *>(2);

    double fraction = 3.9; // compilers warn about a literal
    RUN(converts<<<1, 1>>>(fraction, 2, 5.5f, 7, 'A', 17, 1u << 31, d));
    EXPECT_EACH(d, 3, 2, 5.5, 7, 65, 1, 2147483648.0);
    size_t size = 12;
    unsigned short narrow = 13;
    int minus_one = -1;
    RUN(converts<<<1, 1>>>(size, narrow, size * 2, minus_one, 66, false, -5, d));
    EXPECT_EACH(d, 12, 13, 24, 4294967295.0, 66, 0, -5);

    RUN(nulls<<<1, 1>>>(NULL, nullptr, 0, out));
    EXPECT(out[0], 3);
    RUN(nulls<<<1, 1>>>(out, 0, out, out)); /* int* becomes const int* and void* */
    EXPECT(out[0], 1);

    big b = {100, {0, 0, 0, 0, 50}, "A"};
    structs<<<1, 64>>>(b, counted(5), GREEN, shape::ROUND, out);
    b.n = 0; /* after the launch: the kernel must not see it */
    RUN();
    EXPECT(out[63], 101 + 50 + 65 + 5 + 7 + 9);

    copies = destroyed = 0;
    {
        owner lasting(out, 30);
        RUN(owners<<<2, 64>>>(lasting, 1, owner(out, 5)));
        EXPECT(copies, 1);
        EXPECT(destroyed, 2);
    }
    EXPECT(destroyed, 3);
    EXPECT(out[30], 36);
    EXPECT(out[31], 101 + 50 + 65 + 5 + 7 + 9); /* as before */

    const int **address = visible<const int *>(1);
    *address = out + 1;
    out[0] = 4;
    out[1] = 3;
    RUN(references<<<1, 1>>>(*out, *address));
    EXPECT(out[0], 7);
    RUN(grid_of<<<1, 1>>>({2, 3}, out));
    EXPECT(out[0], 203);

    rows[0] = NULL;
    rows[1] = out;
    RUN(pointer_to_pointer<<<1, 64>>>(rows));
    EXPECT(out[63], 3);
    RUN(nothing<<<1, 1>>>());
    RUN(text<<<1, 1>>>(
        "a string of more than a hundred characters, which is to be whole where it is "
        "written once more by the rewriter, >>>(",
        out));
    EXPECT(out[0], 1);
    RUN(two<<<1, 1>>>(ONE_AND((sum<long, char>(3, 1))), out));
    EXPECT(out[0], 14);
    RUN(two<<<1, 1>>>(
        sum<int, int>(1, 2), [] { return 1; }(), out));
    EXPECT(out[0], 31);
    return verdict();
}
