/* Barriers in blocks of every shape and size;
 * __syncthreads_count, _and and _or, which tell every thread what all of them said; and threads
 * that have returned, which do not hold up a barrier: kernels whose guard returns before their
 * tiles' barriers are wrong by the book, but end on every GPU since Volta. */
#include "check.h"

/* Each thread hands a value to another many times: one missed barrier would show. */
__global__ void pass_around(unsigned *wrong, int rounds) {
    extern __shared__ unsigned slot[];
    unsigned n = blockDim.x * blockDim.y * blockDim.z;
    unsigned me = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    for (int round = 0; round < rounds; ++round) {
        slot[me] = me * 1000 + round;
        __syncthreads();
        unsigned other = (me + 1 + round) % n;
        if (slot[other] != other * 1000 + round) atomicAdd(wrong, 1u);
        __syncthreads();
    }
}

__global__ void votes(int *out) {
    int i = threadIdx.x, n = blockDim.x, *mine = out + i * 8;
    mine[0] = __syncthreads_count(i % 3 == 0);
    mine[1] = __syncthreads_and(i < n) != 0;
    mine[2] = __syncthreads_and(i < n - 1);
    mine[3] = __syncthreads_or(i == n - 1) != 0;
    mine[4] = __syncthreads_or(i == n);
    mine[5] = __syncthreads_count(i * 2); /* any value but 0 counts once */
    mine[6] = __syncthreads_and(-1) != 0;
}

/* They are barriers, too: also as a loop's condition, which ends when no thread has anything to do.
 */
__global__ void ordered(int *out) {
    __shared__ int tile[128];
    int left = threadIdx.x % 17, round = 0;
    tile[threadIdx.x] = threadIdx.x;
    while (__syncthreads_or(left > 0)) {
        left--;
        round++;
    }
    out[threadIdx.x] = tile[127 - threadIdx.x] + 1000 * round;
}

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

static void shapes() {
    unsigned *wrong = visible<unsigned>(1);
    for (dim3 shape : {dim3(1), dim3(31), dim3(33), dim3(1024), dim3(32, 32), dim3(1, 1024),
                       dim3(7, 11), dim3(1, 1, 64), dim3(8, 8, 16), dim3(3, 5, 7)}) {
        RUN(pass_around<<<dim3(3, 2), shape, shape.x * shape.y * shape.z * 4>>>(wrong, 20));
        EXPECT(*wrong, 0u);
    }
}

static void counts() {
    int *out = visible<int>(8 * 1024);
    for (int n : {1, 31, 33, 1024}) {
        RUN(votes<<<1, n>>>(out));
        for (int i = 0; i < n; ++i) EXPECT_EACH(out + i * 8, (n + 2) / 3, 1, 0, 1, 0, n - 1, 1);
    }
    RUN(ordered<<<1, 128>>>(out));
    for (int i = 0; i < 128; ++i) EXPECT(out[i], 127 - i + 16000);
}

static void returned_threads() {
    int *out = visible<int>(256);
    RUN(guard_first<<<1, 256>>>(out, 100));
    for (int i = 0; i < 100; ++i) EXPECT(out[i], 5 * (99 - i) + 10);
    EXPECT(out[100], 0);
    memset(out, 0, 1024);
    RUN(one_by_one<<<10, 320>>>(out));
    for (int i = 0; i < 10; ++i) EXPECT(out[i], 9);
    RUN(all_but_one<<<1, 64>>>(out));
    EXPECT(out[0], 1);
}

int main() {
    shapes();
    counts();
    returned_threads();
    return verdict();
}
