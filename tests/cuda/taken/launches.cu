/* Launches whose arguments are those of the kernel: none, defaults, conversions, templates. */
struct cfg { int a, b; };
__global__ void none(void) {}
__global__ void nothing() {}
template <class T> __global__ void tmpl(T *p, int n) { if (n) p[0] = n; }
__global__ void def(float *p, float v, int n);
__global__ void def(float *p, float v = 1.0f, int n = 2) { if (p && n < 0) p[0] = v; }
__global__ void over(int a) {}
__global__ void over(int a, int b) {}
__global__ void byvalue(cfg c, const char *s) { if (c.a > 1000 && s) __trap(); }
template <int N> __global__ void templ2(float *p) { if (p && N < 0) p[0] = N; }
template <class... T> __global__ void pack(T... x) {}
template <class A, class B> __host__ __device__ int two(A a, B b) { return a + b; }
#define ARGS(x) x, \
    1
__global__ void last(float *p, int n) { if (n < 0) *p = 1; }
namespace ns { __global__ void inner(int a) {} }
static void call(void (*kernel)(float *, int), float *p) { kernel<<<1, 1>>>(p, 1); }
template <class T> static void generic(T *p) { tmpl<<<1, 1>>>(p, 0); tmpl<T><<<1, 1>>>(p, 0); def<<<1, 1>>>(p); }
int main()
{
    float *C;
    double d = 3;
    cfg c = {1, 2};
    int n = 1;
    cudaMalloc(&C, sizeof *C);
    none<<<1, 1>>>(); nothing<<<1, 1>>>();
    def<<<1, 1>>>(NULL); def<<<1, 1>>>(0, 2); def<<<1, 1>>>(nullptr, 2.5, 3);
    over<<<1, 1>>>(1); over<<<1, 1>>>(1, 2);
    byvalue<<<1, 1>>>(cfg(c), "a string of more than a hundred characters, which is to be whole where it is written once more by the rewriter");
    byvalue<<<1, 1>>>(cfg{1, 2}, "x");
    templ2<3><<<1, 1>>>(C);
    pack<<<1, 1>>>(1, 2.0, 'c');
    over<<<1, 1>>>(two<int, int>(1, 2), [] { return 1; }());
    tmpl<<<1, 1>>>(C, 0);
    over<<<1, 1>>>(ARGS((two<long, char>(3, 1))));
    ns::inner<<<1, 1>>>(1);
    generic(C);
    def<<<1, 1>>>(C, d, n);
    call(last, C);
    cudaFree(C);
}
