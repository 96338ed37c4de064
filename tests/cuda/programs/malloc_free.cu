/* cudaMalloc and cudaFree, and what they say to bad arguments. */
#include "check.h"
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

__global__ void fill(int *x, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) x[i] = (int)i;
}

/* Bytes of it that this process has. */
static long address_space(void) {
    unsigned long first, end, all = 0;
    FILE *maps =
        fopen("/proc/self/maps", "r"); /* emulators of other machines have this, not statm */
    CHECK(maps != NULL);
    while (fscanf(maps, "%lx-%lx%*[^\n]", &first, &end) == 2) all += end - first;
    fclose(maps);
    return (long)all;
}

int main() {
    int *x = NULL, on_host = 0, on_stack = 0;
    const size_t n = 1 << 20;
    OK(cudaMalloc(&x, n * sizeof(int)));
    CHECK(x != NULL);
    EXPECT((uintptr_t)x % 256, (uintptr_t)0); /* the alignment that CUDA promises */
    RUN(fill<<<n / 256, 256>>>(x, n));
    OK(cudaMemcpy(&on_host, x + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT(on_host, (int)n - 1);
    OK(cudaFree(x));

    void *untyped = &on_host;
    OK(cudaMalloc((void **)&untyped, 1));
    OK(cudaFree(untyped));
    x = &on_host;
    OK(cudaMalloc(&x, 0));
    CHECK(x == NULL);
    OK(cudaFree(x));
    OK(cudaFree(0));
    OK(cudaFree(NULL));

    FAILS(cudaMalloc((int **)NULL, 4), cudaErrorInvalidValue);
    FAILS(cudaMalloc(&x, (size_t)1 << 60), cudaErrorMemoryAllocation);

    OK(cudaMalloc(&x, 1000));
    OK(cudaFree(x));
    EXPECT(cudaFree(x), cudaErrorInvalidValue);
    EXPECT(cudaFree(&on_stack), cudaErrorInvalidValue);
    OK(cudaMalloc(&x, 1000));
    EXPECT(cudaFree((char *)x + 4), cudaErrorInvalidValue);
    OK(cudaFree(x));
    EXPECT(cudaGetLastError(), cudaErrorInvalidValue);

    /* Allocations do not overlap, and what is freed can be had again, however often. */
    int *many[50];
    for (int i = 0; i < 50; ++i) {
        OK(cudaMalloc(&many[i], 1000 + i));
        OK(cudaMemset(many[i], i, 1000 + i));
    }
    for (int i = 0; i < 50; ++i) {
        unsigned char last = 255;
        OK(cudaMemcpy(&last, (char *)many[i] + 999 + i, 1, cudaMemcpyDeviceToHost));
        EXPECT((int)last, i);
        OK(cudaFree(many[i]));
    }
    long in_use = 0;
    for (int i = 0; i < 700; ++i) {
        OK(cudaMalloc(&x, 1 << 16));
        OK(cudaFree(x));
        if (i == 350) in_use = address_space();
    }
    CHECK(address_space() - in_use < 8 << 20);

    size_t free_bytes = 0, total_bytes = 0;
    OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    CHECK(free_bytes > 0 && free_bytes <= total_bytes);
    return verdict();
}
