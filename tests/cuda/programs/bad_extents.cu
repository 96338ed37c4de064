/* Sizes, pitches and heights that lead outside an allocation, or past the end of all addresses: an
 * error, and nothing is written. */
#include "check.h"

enum { ROWS = 4, PITCH = 512, BYTES = ROWS * PITCH };
static char *d, *other, host[BYTES];

/* Which of the two CUDA returns where both fit is not said. */
static bool refused(cudaError_t error) {
    const cudaError_t last = cudaGetLastError();
    return last == error && (error == cudaErrorInvalidValue || error == cudaErrorInvalidPitchValue);
}

static void expect_untouched() {
    OK(cudaMemcpy(host, d, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BYTES; ++i) EXPECT((int)host[i], 1);
}

int main() {
    const size_t half = (size_t)1 << 63, gap = 64 << 20;
    OK(cudaMalloc(&d, BYTES));
    OK(cudaMalloc(&other, BYTES));
    OK(cudaMemset(d, 1, BYTES));
    OK(cudaMemset(other, 2, BYTES));
    memset(host, 3, sizeof host);

    CHECK(refused(cudaMemset2D(d + BYTES / 2, PITCH, 0, PITCH, 3)));
    CHECK(refused(cudaMemset2D(d, gap, 0, 16, 2)));
    CHECK(refused(cudaMemset2D(d, 8, 0, 16, 2)));
    CHECK(refused(cudaMemset(d, 0, BYTES + 1)));
    CHECK(refused(cudaMemset(d + BYTES - 1, 0, 2)));
    expect_untouched();

#ifdef CUDA_EMULATOR
    const size_t minus = (size_t)-PITCH;
    /* A GPU takes some of these, and of others it does not return (CUDA 13.0, H100). */
    CHECK(refused(cudaMemset2D(d, half, 0, 16, 3)));  /* 2 * half is 0 */
    CHECK(refused(cudaMemset2D(d, minus, 0, 16, 2))); /* backwards */
    CHECK(refused(cudaMemset2D(d, PITCH, 0, 16, half)));
    CHECK(refused(cudaMemcpy2D(d, half, host, 16, 16, 3, cudaMemcpyHostToDevice)));
    CHECK(refused(cudaMemcpy2D(d, minus, host, 16, 16, 2, cudaMemcpyHostToDevice)));
    CHECK(refused(cudaMemcpy2D(host, 16, d, half, 16, 3, cudaMemcpyDeviceToHost)));
    CHECK(refused(cudaMemcpy2D(d, PITCH, other, half, 16, 3, cudaMemcpyDeviceToDevice)));
    CHECK(refused(cudaMemcpy2D(d, PITCH, host, 16, 16, half, cudaMemcpyHostToDevice)));
    CHECK(refused(cudaMemcpy2DAsync(d, half, host, 16, 16, 3, cudaMemcpyHostToDevice, 0)));
    CHECK(refused(cudaMemcpyAsync(d, other, half, cudaMemcpyDeviceToDevice, 0)));
    CHECK(refused(cudaMemset(d, 0, (size_t)-1)));
    CHECK(refused(cudaMemcpy(d, host, (size_t)-1, cudaMemcpyHostToDevice)));

    /* Allocations are far apart here. */
    /* The first row and the last are in memory, those between are not. */
    const ptrdiff_t apart = other - d;
    CHECK(apart > 2 * BYTES);
    CHECK(refused(cudaMemcpy2D(d, apart / 2, host, PITCH, 16, 3, cudaMemcpyHostToDevice)));
    CHECK(refused(cudaMemcpy2D(host, PITCH, d, apart / 2, 16, 3, cudaMemcpyDeviceToHost)));
    CHECK(refused(cudaMemset2D(d, apart / 2, 0, 16, 3)));
#endif
    CHECK(refused(cudaMemcpy2D(d, PITCH, host, PITCH, 16, ROWS + 1, cudaMemcpyHostToDevice)));
    CHECK(refused(cudaMemcpy2D(host, 16, d, PITCH, 16, ROWS + 1, cudaMemcpyDeviceToHost)));
    CHECK(refused(cudaMemcpy2D(host, 16, d + 1, PITCH, PITCH, ROWS, cudaMemcpyDeviceToHost)));
    CHECK(refused(cudaMemcpy(d + 1, host, BYTES, cudaMemcpyHostToDevice)));
    expect_untouched();

    OK(cudaMemset2D(d, PITCH, 1, PITCH, ROWS)); /* to the very end */
    OK(cudaMemcpy2D(d, PITCH, d, PITCH, 16, ROWS, cudaMemcpyDeviceToDevice));
    OK(cudaMemset2D(d, PITCH, 0, 0, half)); /* nothing at all */
    expect_untouched();

    void *none = nullptr;
    size_t pitch = 0;
    EXPECT(cudaMalloc(&none, (size_t)-1), cudaErrorMemoryAllocation);
    EXPECT(cudaMalloc(&none, half), cudaErrorMemoryAllocation);
    CHECK(cudaMallocPitch(&none, &pitch, (size_t)-1, 2) != cudaSuccess);
    CHECK(cudaMallocPitch(&none, &pitch, PITCH, half) != cudaSuccess);
    cudaGetLastError();
    return verdict();
}
