/* A kernel that prints for ever is inside the C library nearly always; it is stopped all the same.
 * Its output goes to a file that nobody reads. */
// expect-stderr: {HERE}: the kernel does not end: a block was still running here after [\d.]+ s
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in prints
#include "../programs/check.h"

__global__ void prints(const volatile int *go) {
    while (*go) printf("%d\n", threadIdx.x); // HERE
}

int main() {
    int *go = visible<int>(1);
    *go = 1;
    static capture out;
    out.begin(1);
    emulator_time_limit(0.5);
    prints<<<1, 1>>>(go);
    cudaError_t error = cudaDeviceSynchronize();
    out.end();
    EXPECT(error, cudaErrorLaunchTimeout);
    return verdict();
}
