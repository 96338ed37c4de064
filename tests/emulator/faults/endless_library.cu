/* A kernel that is inside the C library nearly each time it is looked at. It cannot be stopped
 * there, for the library may hold a lock: it is stopped where it comes back, and the line of the
 * call is told. Host code that makes the same call afterwards comes back from it as ever. */
// expect-stderr: {HERE}: the kernel does not end: a block was still running here after [\d.]+ s
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in nap
#include "../programs/check.h"
#include <time.h>

__attribute__((noinline)) __host__ __device__ int nap(const timespec *how_long) {
    return nanosleep(how_long, NULL) + 1; // HERE
}

__global__ void naps(volatile int *naps) {
    const timespec moment = {.tv_sec = 0, .tv_nsec = 1000 * 1000};
    while (naps[0] >= 0) naps[0] += nap(&moment);
}

int main() {
    int *count = visible<int>(1);
    const timespec moment = {.tv_sec = 0, .tv_nsec = 50 * 1000 * 1000};
    emulator_time_limit(0.5);
    naps<<<1, 1>>>(count);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    const int then = count[0];
    EXPECT(nap(&moment), 1);
    EXPECT(count[0], then);
    return verdict();
}
