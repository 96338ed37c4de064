/* Dynamic parallelism through a function that could be the host's: seen when it runs. */
// expect-stderr: {HERE}: a kernel cannot launch a kernel \(dynamic parallelism\) here; launch it from host code
// expect-stderr:     thread \(0,0,0\) of block \(\d,0,0\), in start
#include "../programs/check.h"

__global__ void child(int *x) { *x = 1; }
static __attribute__((noinline)) void start(int *x) {
    child<<<1, 1>>>(x); // HERE
}
__global__ void parent(int *x) { start(x); }

int main() {
    parent<<<4, 32>>>(nullptr);
    EXPECT(cudaDeviceSynchronize(), cudaErrorNotSupported);
    return verdict();
}
