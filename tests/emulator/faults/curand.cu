/* A call of cuRAND, which is not there. */
// expect-build-failure
// expect-stderr: {HERE}: cuRAND runs only on a GPU; build with BACKEND=cuda on a machine that has one
#include "../programs/check.h"
#include <curand_kernel.h>

__global__ void random(float *x) {
    curandState state; // HERE
    curand_init(1, threadIdx.x, 0, &state);
    x[threadIdx.x] = curand_uniform(&state);
}

int main() { return verdict(); }
