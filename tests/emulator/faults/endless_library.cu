/* A kernel that is inside the C library each time it is looked at: it cannot be stopped there, for
 * the library may hold a lock, but the line that called it is told. */
// expect-stderr: {HERE}: the kernel was still running here after 0\.5 s, its time limit
// expect-stderr:     thread \(0,0,0\) of block \(0,0,0\), in waits
#include "../check.h"
#include <unistd.h>

__global__ void waits(const volatile int *go) {
    while (*go) pause(); // HERE
}

int main() {
    int *go = visible<int>(1);
    *go = 1;
    emulator_time_limit(0.5);
    waits<<<1, 1>>>(go);
    EXPECT(cudaDeviceSynchronize(), cudaErrorLaunchTimeout);
    return verdict();
}
