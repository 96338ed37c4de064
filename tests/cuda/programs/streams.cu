/* Streams: work in one is done in order, and done when it has been waited for; and events, which
 * tell how long a kernel took. */
#include "check.h"
#include <time.h>

__global__ void add(int *x, int what) { x[threadIdx.x] += what; }
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }
__global__ void works(float *x, int n) {
    float v = threadIdx.x;
    for (int i = 0; i < n; ++i) v = v * 0.999f + 1;
    x[threadIdx.x] = v;
}

static void order() {
    enum { N = 256, BYTES = N * sizeof(int) };
    cudaStream_t one, two;
    cudaEvent_t ready;
    int *h, *d;
    OK(cudaStreamCreate(&one));
    OK(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
    OK(cudaEventCreate(&ready));
    OK(cudaMallocHost(&h, BYTES));
    OK(cudaMalloc(&d, BYTES));
    for (int i = 0; i < N; ++i) h[i] = i;

    OK(cudaMemcpyAsync(d, h, BYTES, cudaMemcpyHostToDevice, one));
    add<<<1, N, 0, one>>>(d, 10);
    OK(cudaEventRecord(ready, one));
    OK(cudaStreamWaitEvent(two, ready, 0));
    FAILS(cudaStreamWaitEvent(two, ready, 5), cudaErrorInvalidValue);
    twice<<<1, N, 0, two>>>(d);
    OK(cudaMemcpyAsync(h, d, BYTES, cudaMemcpyDeviceToHost, two));
    OK(cudaStreamSynchronize(two));
    OK(cudaStreamQuery(two));
    OK(cudaStreamQuery(one));
    for (int i = 0; i < N; ++i) EXPECT(h[i], 2 * (i + 10));

    OK(cudaStreamSynchronize(0));
    OK(cudaStreamDestroy(one));
    OK(cudaStreamDestroy(two));
    OK(cudaEventDestroy(ready));
}

static double now() {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e3 + t.tv_nsec * 1e-6;
}

static void times() {
    float *x = visible<float>(1024), ms = -1;
    cudaEvent_t start, stop, never, untimed;
    for (cudaEvent_t *each : {&start, &stop, &never}) OK(cudaEventCreate(each));
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
    FAILS(cudaEventCreateWithFlags(&untimed, 99), cudaErrorInvalidValue);
    OK(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    OK(cudaEventRecord(untimed));
    OK(cudaEventSynchronize(untimed));
    FAILS(cudaEventElapsedTime(&ms, start, untimed), cudaErrorInvalidResourceHandle);
    for (cudaEvent_t each : {start, stop, never, untimed}) OK(cudaEventDestroy(each));
}

int main() {
    order();
    times();
    return verdict();
}
