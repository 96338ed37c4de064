/* __syncthreads_count, _and and _or: barriers that tell every thread what all of them said. */
#include "check.h"

__global__ void votes(int *out) {
    int i = threadIdx.x, n = blockDim.x, *mine = out + i * 8;
    mine[0] = __syncthreads_count(i % 3 == 0);
    mine[1] = __syncthreads_and(i < n);
    mine[2] = __syncthreads_and(i < n - 1);
    mine[3] = __syncthreads_or(i == n - 1);
    mine[4] = __syncthreads_or(i == n);
    mine[5] = __syncthreads_count(i * 2); /* any value but 0 counts once */
    mine[6] = __syncthreads_and(-1);
}

/* They are barriers, too. */
__global__ void ordered(int *out) {
    __shared__ int tile[128];
    tile[threadIdx.x] = threadIdx.x;
    int any = __syncthreads_or(0);
    out[threadIdx.x] = tile[127 - threadIdx.x] + any;
}

/* A loop that ends when no thread has anything left to do, as in a sort or a relaxation. */
__global__ void until_done(int *rounds) {
    int left = threadIdx.x % 17, round = 0;
    while (__syncthreads_or(left > 0)) {
        left--;
        round++;
    }
    rounds[threadIdx.x] = round;
}

int main() {
    int *out = visible<int>(8 * 1024);
    const int sizes[] = {1, 31, 33, 100, 1024};
    for (int n : sizes) {
        RUN(votes<<<1, n>>>(out));
        for (int i = 0; i < n; ++i) {
            EXPECT(out[i * 8], (n + 2) / 3);
            CHECK(out[i * 8 + 1] != 0);
            EXPECT(out[i * 8 + 2], 0);
            CHECK(out[i * 8 + 3] != 0);
            EXPECT(out[i * 8 + 4], 0);
            EXPECT(out[i * 8 + 5], n - 1);
            CHECK(out[i * 8 + 6] != 0);
        }
    }
    RUN(ordered<<<1, 128>>>(out));
    for (int i = 0; i < 128; ++i) EXPECT(out[i], 127 - i);
    RUN(until_done<<<1, 64>>>(out));
    for (int i = 0; i < 64; ++i) EXPECT(out[i], 16);
    return verdict();
}
