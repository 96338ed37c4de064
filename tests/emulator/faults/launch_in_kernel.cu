/* Dynamic parallelism, seen when it is compiled. */
// expect-build-failure
// expect-stderr: {HERE}: a kernel cannot launch a kernel \(dynamic parallelism\) here; launch it from host code
#include "../programs/check.h"

__global__ void child(int *x) { *x = 1; }
__global__ void parent(int *x) {
    if (threadIdx.x == 0) {
        child<<<1, 1>>>(x); // HERE
    }
}

int main() {
    parent<<<1, 32>>>(nullptr);
    return verdict();
}
