/* Threads that have returned do not hold up a barrier: kernels whose guard returns before their
 * tiles' barriers are wrong by the book, but end on every GPU since Volta. */
#include "check.h"

__global__ void guard_first(int *out, int n) {
    __shared__ int tile[256];
    int i = threadIdx.x;
    if (i >= n) return;
    for (int phase = 0; phase < 5; ++phase) {
        tile[i] = i + phase;
        __syncthreads();
        out[i] += tile[n - 1 - i];
        __syncthreads();
    }
}

/* One warp leaves after another while the others wait. (Threads of one warp that leave a loop at
 * different times hung on an H200, presumably because they wait for each other behind the loop and
 * so have not returned while the rest stands at the barrier.) */
__global__ void one_by_one(int *out) {
    for (int i = 0; i < (int)threadIdx.x / 32; ++i) {
        __syncthreads();
        if (threadIdx.x == blockDim.x - 1) out[blockIdx.x]++;
    }
}

__global__ void all_but_one(int *out) {
    if (threadIdx.x != 37) return;
    __syncthreads();
    *out = __syncthreads_count(1);
}

__global__ void half_a_warp_returns(int *out) {
    __syncthreads();
    if (threadIdx.x >= 48) return;
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = 3;
    } else {
        __syncthreads();
        out[threadIdx.x] = 4;
    }
}

int main() {
    int *out = visible<int>(256);
    RUN(guard_first<<<1, 256>>>(out, 100));
    for (int i = 0; i < 100; ++i) EXPECT(out[i], 5 * (99 - i) + 10);
    EXPECT(out[100], 0);
    memset(out, 0, 1024);
    RUN(one_by_one<<<10, 320>>>(out));
    for (int i = 0; i < 10; ++i) EXPECT(out[i], 9);
    RUN(all_but_one<<<1, 64>>>(out));
    EXPECT(out[0], 1);
    memset(out, 0, 1024);
    RUN(half_a_warp_returns<<<1, 64>>>(out));
    for (int i = 0; i < 64; ++i) EXPECT(out[i], i < 32 ? 3 : i < 48 ? 4 : 0);
    return verdict();
}
