/* Events around a kernel tell its time. */
#include "check.h"
#include <time.h>

__global__ void works(float *x, int n) {
    float v = threadIdx.x;
    for (int i = 0; i < n; ++i) v = v * 0.999f + 1;
    x[threadIdx.x] = v;
}

static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

int main() {
    float *x = visible<float>(1024), ms = -1;
    cudaEvent_t start, stop, never;
    OK(cudaEventCreate(&start));
    OK(cudaEventCreate(&stop));
    OK(cudaEventCreate(&never));
    RUN(works<<<1, 32>>>(x, 1)); /* the first launch costs more */

    double host = now();
    OK(cudaEventRecord(start));
    works<<<1, 32>>>(x, 300000);
    OK(cudaEventRecord(stop, 0));
    OK(cudaEventSynchronize(stop));
    host = now() - host;
    OK(cudaEventQuery(stop));
    OK(cudaEventElapsedTime(&ms, start, stop));
    CHECK(ms > 0.1 && ms <= host + 0.5);

    EXPECT(cudaEventElapsedTime(&ms, start, never), cudaErrorInvalidResourceHandle);
    FAILS(cudaEventElapsedTime(NULL, start, stop), cudaErrorInvalidValue);
    cudaEvent_t untimed;
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventRecord(untimed));
    OK(cudaEventSynchronize(untimed));
    FAILS(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    OK(cudaEventDestroy(untimed));
    OK(cudaEventDestroy(never));
    OK(cudaEventDestroy(start));
    OK(cudaEventDestroy(stop));
    return verdict();
}
