/* Arrays of each thread's own, small and large: 64 KB for each of 1024 threads, kept over barriers.
 */
#include "check.h"

template <int WORDS> __global__ void large(int *out) {
    int local[WORDS];
    for (int i = 0; i < WORDS; ++i) local[i] = i ^ threadIdx.x;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < WORDS; ++i) sum += local[(i * 7) % WORDS];
    __syncthreads();
    out[threadIdx.x] = sum;
}

int main() {
    int *out = visible<int>(1024);
    RUN(large<16 * 1024><<<1, 1024>>>(out));
    for (int t = 0; t < 1024; ++t) {
        int sum = 0;
        for (int i = 0; i < 16 * 1024; ++i) sum += i ^ t;
        EXPECT(out[t], sum);
    }
    RUN(large<1024><<<3, 33>>>(out));
    EXPECT(out[0], 1023 * 512);
    return verdict();
}
