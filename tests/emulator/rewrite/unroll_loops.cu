/* #pragma unroll wherever nvcc takes it: must compile without a warning;
 * the odd spellings are the point. */
// clang-format off

#define TILE 16
#define UNROLL _Pragma("unroll")
#define TEXT(x) _Pragma(#x)
#define UNROLL_BY(n) TEXT(unroll n)

template <int N> static int sum(int n) {
    const int step = 4;
    int s = 0;
#pragma unroll
    for (int i = 0; i < n; i++) s++;
#pragma unroll 4
    for (int i = 0; i < TILE; i++) s++;
#pragma unroll TILE
    for (int i = 0; i < TILE; i++) s++;
#pragma unroll N
    for (int i = 0; i < N; i++) s++;
#pragma unroll(step)
    for (int i = 0; i < N; i += step / 4) s++;
#pragma unroll 100000
    for (int i = 0; i < n; i++) s++;
#pragma unroll 1
    while (n-- > 0) s++;
    UNROLL for (int i = 0; i < TILE; i++) s++;
    UNROLL_BY(TILE) for (int i = 0; i < TILE; i++) s++;
    if (s)
#pragma unroll 2
        do s++;
        while (++n < 9);
#pragma unroll
    s++;
#pragma unroll 4
#pragma unroll
    for (int i = 0; i < 2; i++) s++;
    return s;
}

int main() {
    CHECK(sum<8>(50) == 50 + 16 + 16 + 8 + 8 + 50 + 50 + 16 + 16 + 10 + 1 + 2);
    return failures;
}

__thread char emulator_dynamic_shared[48 * 1024];
