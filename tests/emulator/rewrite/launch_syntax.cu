/* Launches as submissions write them: must compile, and hand on configuration and arguments;
 * the odd spellings are the point. */
// clang-format off
#include <assert.h>

#define TILE 16
#define LAUNCH(k, g, b, ...) k<<<g, b>>>(__VA_ARGS__)

static int calls;
static float sum;

__global__ void __launch_bounds__(256) add(int n, float x)
{
    calls++;
    sum += n * x;
}

template <int N> __global__ void add_n(float x)
{
    add(N, x);
}

template <typename T, typename U = int> __global__ void add_t(T x)
{
    add(1, (float)x);
}

template <typename T> struct twice {
    typedef T type;
};

namespace ns
{
__global__ void add(int n, float x)
{
    ::add(n, x);
}
} // namespace ns

static bool was(int n, unsigned gx, unsigned gy, unsigned bx, unsigned by, size_t shared = 0)
{
    using namespace emulator;
    bool right = calls == 1 && sum == (float)n && last_grid.x == gx && last_grid.y == gy &&
                 last_block.x == bx && last_block.y == by && last_shared == shared;
    calls = 0;
    sum = 0;
    return right;
}

int main()
{
    dim3 gridDim(2, 3), blockDim(TILE, TILE);
    int n = 100;
    cudaStream_t stream = 0;
    void (*kernel)(int, float) = add;
    void (*table[])(int, float) = {add, ns::add};

    add<<<gridDim, blockDim>>>(1, 1);
    CHECK(was(1, 2, 3, 16, 16));
    add <<< gridDim, blockDim >>> (1, 2.0);
    CHECK(was(2, 2, 3, 16, 16));
    add << <gridDim, blockDim >> > (1, 3);
    CHECK(was(3, 2, 3, 16, 16));
    add < < < gridDim, blockDim > > > (1, 4);
    CHECK(was(4, 2, 3, 16, 16));
    add<<<
        gridDim,
        blockDim,
        TILE * sizeof(float),
        stream
    >>>(1,
        5);
    CHECK(was(5, 2, 3, 16, 16, 64));
    add<<<dim3((n - 1) / TILE + 1, n >> 4), dim3(TILE, n > 3 ? 8 : 4), n << 1, NULL>>>(1, 6);
    CHECK(was(6, 7, 6, 16, 8, 200));
    add<<<{1, 2}, {3, 4}>>>(1, 7);
    CHECK(was(7, 1, 2, 3, 4));
    add_n<8><<<1, 2>>>(1);
    CHECK(was(8, 1, 1, 2, 1));
    add_t<twice<twice<float>>::type::type><<<1, 2>>>(9);
    CHECK(was(9, 1, 1, 2, 1));
    add_t<float, twice<int>> << <1, 2 >> >(10);
    CHECK(was(10, 1, 1, 2, 1));
    ns::add<<<1, 2>>>(1, 11);
    CHECK(was(11, 1, 1, 2, 1));
    kernel<<<1, 2>>>(1, 12);
    CHECK(was(12, 1, 1, 2, 1));
    (*kernel)<<<1, 2>>>(1, 13);
    CHECK(was(13, 1, 1, 2, 1));
    table[1]<<<1, 2>>>(1, 14);
    CHECK(was(14, 1, 1, 2, 1));
    LAUNCH(add, 1, 2, 1, 15);
    CHECK(was(15, 1, 1, 2, 1));
    if (n > 3)
        add<<<1, 2>>>(1, 16);
    else
        add<<<1, 2>>>(1, 17);
    CHECK(was(16, 1, 1, 2, 1));
    n > 3 ? add<<<1, 2>>>(1, 17) : add<<<1, 2>>>(1, 18);
    CHECK(was(17, 1, 1, 2, 1));
    [&] { add<<<1, n>>>(1, 18); }();
    CHECK(was(18, 1, 1, 100, 1));
    for (int k = 0; k < 2; k++)
        add<<<1, sizeof(twice<twice<int>>)>>>(1, 9.5f);
    CHECK(calls == 2 && sum == 19);
    assert(calls == 2);
    return failures;
}

__thread char emulator_dynamic_shared[48 * 1024];
