/* A failed assert tells CUDA's line and nothing more. */
// expect-stderr: {HERE}: .*even.*: block: \[1,0,0\], thread: \[1,0,0\] Assertion `threadIdx\.x % 2 == 0` failed\.
#include "../programs/check.h"
#include <assert.h>

__global__ void even() {
    if (blockIdx.x == 1) assert(threadIdx.x % 2 == 0); // HERE
}

int main() {
    even<<<2, 2>>>();
    EXPECT(cudaDeviceSynchronize(), cudaErrorAssert);
    return verdict();
}
