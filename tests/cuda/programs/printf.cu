/* printf in a kernel: standard output has every thread's line after the next synchronization. */
#include "check.h"

__global__ void hello(float x) {
    printf("block %d thread %u of %s: %.2f %5.1e %c %lld%%\n", blockIdx.x, threadIdx.x, "hello", x,
           x * 1000.0, 'z', 1LL << 40);
}

__global__ void only_one() {
    if (threadIdx.x == 3) printf("just %d\n", threadIdx.x);
}

int main() {
    static capture out;
    out.begin(1);
    hello<<<2, 3>>>(1.5f);
    only_one<<<1, 32>>>();
    cudaError_t error = cudaDeviceSynchronize();
    out.end();
    OK(error);
    int lines = 0;
    for (const char *c = out.text; *c; ++c) lines += *c == '\n';
    EXPECT(lines, 7);
    for (int block = 0; block < 2; ++block)
        for (int thread = 0; thread < 3; ++thread) {
            char line[100];
            snprintf(line, sizeof line,
                     "block %d thread %d of hello: 1.50 1.5e+03 z 1099511627776%%\n", block,
                     thread);
            CHECK(strstr(out.text, line) != NULL);
        }
    CHECK(strstr(out.text, "just 3\n") != NULL);
    return verdict();
}
