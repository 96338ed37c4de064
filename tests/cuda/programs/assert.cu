/* assert in a kernel: CUDA's message on standard error, cudaErrorAssert from then on, first at
 * whatever call synchronizes; here a copy. */
#include <assert.h>

#include "check.h"

__global__ void holds(int n) { assert(n == 5 && "never printed"); }

__global__ void fails(const int *x, int n) {
    int i = threadIdx.x;
    assert(i < n);
    if (i == 3) assert(x[i] == 1);
}
const int failing_line = __LINE__ - 2;

int main() {
    int *x, y = 5;
    OK(cudaMalloc(&x, 32 * sizeof(int)));
    OK(cudaMemset(x, 0, 32 * sizeof(int)));
    RUN(holds<<<1, 32>>>(5));

    char place[40];
    snprintf(place, sizeof place, "assert.cu:%d: ", failing_line);
    static capture err;
    err.begin(2);
    fails<<<dim3(1, 1), 32>>>(x, 32);
    cudaError_t at_launch = cudaGetLastError(),
                at_copy = cudaMemcpy(&y, x, 4, cudaMemcpyDeviceToHost);
    err.end();
    EXPECT(at_copy, cudaErrorAssert);
    EXPECT(y, 5);
    EXPECT(cudaGetLastError(), cudaErrorAssert);
    EXPECT(cudaMemset(x, 0, 4), cudaErrorAssert);
    CHECK(at_launch == cudaSuccess || at_launch == cudaErrorAssert);
    CHECK(strstr(err.text, place) != NULL);
    CHECK(strstr(err.text, "block: [0,0,0], thread: [3,0,0] Assertion `x[i] == 1` failed.") !=
          NULL);
    CHECK(strstr(err.text, "fails(") != NULL);
    return verdict();
}
