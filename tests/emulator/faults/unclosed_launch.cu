/* A launch that somebody forgot to finish. */
// expect-build-failure
// expect-stderr: {HERE}: the launch that opens here with <<< is not closed by >>>\(arguments\)
#include "../programs/check.h"

__global__ void fill(float *x) { x[threadIdx.x] = 1; }

int main() {
    float *x = visible<float>(32);
    fill<<<1, 32>>; // HERE
    return verdict();
}
