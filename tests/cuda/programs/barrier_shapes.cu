/* Barriers in blocks of every shape and size, in many blocks, and in loops whose length differs
 * from block to block. */
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

__global__ void loop_by_block(int *out) {
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    for (int i = 0; i < (int)blockIdx.x; ++i) {
        if (i % blockDim.x == threadIdx.x) sum += i;
        __syncthreads();
    }
    if (blockIdx.x % 2) { /* all threads of a block agree */
        __syncthreads();
        if (threadIdx.x == 5) sum = -sum;
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

int main() {
    unsigned *wrong = visible<unsigned>(1);
    const dim3 shapes[] = {dim3(1),        dim3(2),        dim3(31),      dim3(32),
                           dim3(33),       dim3(1000),     dim3(1024),    dim3(16, 16),
                           dim3(32, 32),   dim3(1, 1024),  dim3(7, 11),   dim3(4, 4, 4),
                           dim3(1, 1, 64), dim3(8, 8, 16), dim3(3, 5, 7), dim3(5, 1, 3)};
    for (dim3 shape : shapes) {
        RUN(pass_around<<<dim3(3, 2), shape, shape.x * shape.y * shape.z * 4>>>(wrong, 20));
        EXPECT(*wrong, 0u);
    }
    int *out = visible<int>(100);
    RUN(loop_by_block<<<100, 64>>>(out));
    for (int i = 0; i < 100; ++i) EXPECT(out[i], (i % 2 ? -1 : 1) * i * (i - 1) / 2);
    return verdict();
}
