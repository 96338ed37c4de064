/* Threads of one block that spin until another thread lets them go on. All end on a GPU since
 * Volta, whose threads of one warp make progress independently. (Between blocks: spin_lock.cu and
 * turns_by_flag.cu of tests/kernels/right.) */
#include "check.h"

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
    for (int by_exchange = 0; by_exchange < 2; ++by_exchange) {
        RUN(inside_block<<<4, 256>>>(sum, by_exchange));
        EXPECT_EACH(sum, 256, 256, 256, 256);
    }
    for (int step = -1; step <= 1; step += 2) {
        RUN(one_after_another<<<1, 32>>>(sum, step));
        for (int i = 0; i < 32; ++i) EXPECT(sum[i], step > 0 ? i : 31 - i);
    }
    return verdict();
}
