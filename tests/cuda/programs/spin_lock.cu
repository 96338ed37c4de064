/* Threads that spin until another thread lets them go on: locks between blocks and inside one, and
 * flags. All end on a GPU since Volta, whose threads of one warp make progress independently. */
#include "check.h"

__device__ int lock, done_flag;
__device__ long long protected_sum;

__global__ void between_blocks(int rounds) {
    if (threadIdx.x) return;
    for (int i = 0; i < rounds; ++i) {
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
        __threadfence();
        volatile long long *sum = &protected_sum;
        *sum = *sum + 1;
        __threadfence();
        atomicExch(&lock, 0);
    }
}

/* Every thread of the block, also of one warp, wants the same lock; and takes it in either way. */
__global__ void inside_block(int *sum, bool by_exchange) {
    __shared__ int block_lock, unprotected;
    if (threadIdx.x == 0) block_lock = unprotected = 0;
    __syncthreads();
    bool done = false;
    while (!done) {
        int taken = by_exchange ? atomicExch(&block_lock, 1) : atomicCAS(&block_lock, 0, 1);
        if (taken == 0) {
            volatile int *value = &unprotected;
            *value = *value + 1;
            __threadfence_block();
            atomicExch(&block_lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) sum[blockIdx.x] = unprotected;
}

/* A flag read by an atomic that changes nothing; the setter is the last thread. */
__global__ void wait_for_flag(int *out) {
    if (threadIdx.x == blockDim.x - 1) {
        out[0] = 5;
        __threadfence();
        atomicExch(&done_flag, 1);
    } else {
        while (atomicAdd(&done_flag, 0) == 0) __nanosleep(100);
        __threadfence();
        atomicAdd(&out[1], *(volatile int *)&out[0]);
    }
}

/* Each thread lets the next one go, upwards or downwards: whatever order the threads begin in, it
 * is the wrong one once. */
__global__ void one_after_another(int *out, int step) {
    __shared__ int turn;
    int me = threadIdx.x, last = blockDim.x - 1;
    if (me == 0) turn = step > 0 ? 0 : last;
    __syncthreads();
    while (atomicCAS(&turn, me, me) != me) {
    }
    out[me] = step > 0 ? turn : last - turn;
    __threadfence_block();
    atomicExch(&turn, me + step);
}

int main() {
    int *sum = visible<int>(32);
    long long total = 0;
    RUN(between_blocks<<<8, 32>>>(100));
    OK(cudaMemcpyFromSymbol(&total, protected_sum, sizeof total));
    EXPECT(total, 800LL);
    for (int by_exchange = 0; by_exchange < 2; ++by_exchange) {
        RUN(inside_block<<<4, 256>>>(sum, by_exchange));
        EXPECT_EACH(sum, 256, 256, 256, 256);
    }
    sum[0] = sum[1] = 0;
    RUN(wait_for_flag<<<1, 100>>>(sum));
    EXPECT(sum[1], 99 * 5);
    for (int step = -1; step <= 1; step += 2) {
        RUN(one_after_another<<<1, 32>>>(sum, step));
        for (int i = 0; i < 32; ++i) EXPECT(sum[i], step > 0 ? i : 31 - i);
    }
    return verdict();
}
