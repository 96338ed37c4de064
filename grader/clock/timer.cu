/* timer.cu: see timer.h. */
extern "C" {
#include "../../engine/report/text/text.h"
#include "timer.h"
}

#include <stdlib.h>

/* Twice: half of what was there may survive being overwritten once, as caches choose what goes. */
static const size_t times_l2 = 2;
static const long long hold_cycles = 100000; /* 50 microseconds at 2 GHz */

struct timer {
    void *buffer;
    size_t bytes;
    unsigned char value; /* of the last flush: another each time, so that lines do change */
    cudaEvent_t begin, end;
    double begun; /* by the host's clock */
};

cudaError_t timer_new(struct timer **timer) {
    int device, bytes = 0;
    struct timer *t = *timer = (struct timer *)calloc(1, sizeof *t);
    if (!t) return cudaErrorMemoryAllocation;
    cudaError_t error = cudaGetDevice(&device);
    if (!error) error = cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device);
    t->bytes = times_l2 * (size_t)bytes;
    if (!error) error = cudaMalloc(&t->buffer, t->bytes);
    if (!error) error = cudaEventCreate(&t->begin);
    if (!error) error = cudaEventCreate(&t->end);
    return error;
}

static __global__ void hold(long long cycles) {
    const long long begun = clock64();
    while (clock64() - begun < cycles) continue;
}

cudaError_t timer_start(struct timer *t) {
    cudaError_t error = cudaCtxResetPersistingL2Cache();
    if (!error) error = cudaMemsetAsync(t->buffer, t->value++, t->bytes);
    if (!error) error = cudaDeviceSynchronize();
    if (error) return error;
    t->begun = clock_seconds();
    hold<<<1, 1>>>(hold_cycles);
    error = cudaGetLastError();
    return error ? error : cudaEventRecord(t->begin);
}

bool timer_holds(struct timer *t) {
    if (cudaEventQuery(t->begin) != cudaErrorNotReady) return false;
    cudaGetLastError(); /* it is no failure, but would be the next call's */
    return true;
}

/* The numbers stay on the stack: no kernel reaches what the driver does not map. */
cudaError_t timer_stop(struct timer *t, struct times *times) {
    float milliseconds = 0;
    cudaError_t error = cudaEventRecord(t->end);
    if (!error) error = cudaDeviceSynchronize();
    const double seconds = clock_seconds() - t->begun;
    if (!error) error = cudaEventElapsedTime(&milliseconds, t->begin, t->end);
    *times = (struct times){milliseconds * 1e-3, seconds};
    return error;
}
