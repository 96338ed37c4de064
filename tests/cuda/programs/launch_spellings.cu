/* Launches in every spelling that submissions and editors' formatters produce. */
#include "check.h"

#define LAUNCH(kernel, blocks, threads, ...) kernel<<<blocks, threads>>>(__VA_ARGS__)
#define CONFIG <<<1, 32>>>
#define TRY(...)                                                                                   \
    do {                                                                                           \
        *count = 0;                                                                                \
        __VA_ARGS__;                                                                               \
        counted_32(__LINE__, *count);                                                              \
    } while (0)

static void counted_32(int line, const int &count) {
    finish(__FILE__, line);
    expect(__FILE__, line, "threads that counted", count, 32);
}

__global__ void counts(int *count) { atomicAdd(count, 1); }
__global__ void counts_by(int by, int *count) { atomicAdd(count, by); }
template <int BY> __global__ void counts_by_template(int *count) { atomicAdd(count, BY); }
template <typename T, int A, int B> __global__ void counts_by_two(int *count) {
    atomicAdd(count, (T)(A - B));
}
template <class T> struct twice {
    typedef T type;
};
template <class T, class U = int> __global__ void counts_by_type(T *count) { atomicAdd(count, 1); }
namespace ns {
__global__ void counts(int *count) { atomicAdd(count, 1); }
} // namespace ns

int main() {
    int *count = visible<int>(1);
    const int n = 32;
    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    dim3 grid(1), block(n);

    TRY((counts <<< 1, 32 >>> (count)));
    TRY((counts << <grid, block>> >(count)));
    TRY((counts<<<
             grid,
             block
         >>>(
             count)));
    TRY((counts // a comment with <<< in it
             <<<grid /* blocks */, block /* threads >>> */>>>(count)));
    TRY((counts<<<grid, block, 0, 0>>>(count)));
    TRY((counts<<<grid, block, 16 * sizeof(float), stream>>>(count)));
    TRY((counts<<<grid, block, 0, nullptr>>>(count)));
    TRY((counts<<<n >> 5, 1 << 5>>>(count)));
    TRY((counts<<<(n > 16 ? 1 : 2), n>>>(count)));
    TRY((ns::counts<<<1, 32>>>(count)));
    TRY((counts_by<<<1, 16>>>(2, count)));
    TRY((counts_by_template<n / 8><<<1, 8>>>(count)));
    TRY((counts_by_two<
             int,
             4, 2> <<<1,
                      16>>>(count)));
    TRY((counts_by_type<twice<twice<int>>::type::type><<<1, 32>>>(count)));
    TRY((counts_by_type<int, twice<int>> << <1, 32 >> >(count)));
    TRY((counts<<<1, 32 * sizeof(twice<twice<char>>)>>>(count)));
    TRY((n > 3 ? counts<<<1, 32>>>(count) : counts<<<1, 1>>>(count)));
    TRY((LAUNCH(counts_by, grid, 16, 2, count)));
    TRY((counts CONFIG(count)));
    TRY(if (n) counts<<<1, 32>>>(count); else counts<<<1, 1>>>(count));
    TRY(for (int i = 0; i < 4; ++i) counts<<<2, 4>>>(count));
    TRY([&] { counts<<<1, 32>>>(count); }());

    void (*pointer)(int *) = counts;
    TRY((pointer<<<1, 32>>>(count)));
    void (*table[])(int *) = {counts, ns::counts, counts_by_template<1>};
    TRY((table[2]<<<1, 32>>>(count)));
    TRY((*pointer)<<<1, 32>>>(count));
    OK(cudaStreamDestroy(stream));
    return verdict();
}
