/* timer.cu: see timer.h. */
#include "timer.h"
#include "../../support.h"

#include <stdio.h>
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

static char reason[200];

const char *timer_error(void) { return reason; }

static bool right(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return true;
    snprintf(reason, sizeof reason, "%s: %s (%s)", what, cudaGetErrorString(error),
             cudaGetErrorName(error));
    return false;
}

struct timer *timer_new(void) {
    int device, bytes = 0;
    struct timer *t = (struct timer *)calloc(1, sizeof *t);
    if (!t || !right(cudaGetDevice(&device), "the GPU") ||
        !right(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "its L2 cache"))
        return NULL;
    t->bytes = times_l2 * (size_t)bytes;
    return right(cudaMalloc(&t->buffer, t->bytes), "memory to overwrite the L2 cache") &&
                   right(cudaEventCreate(&t->begin), "an event") &&
                   right(cudaEventCreate(&t->end), "an event")
               ? t
               : NULL;
}

static __global__ void hold(long long cycles) {
    const long long begun = clock64();
    while (clock64() - begun < cycles) continue;
}

bool timer_start(struct timer *t) {
    if (!right(cudaCtxResetPersistingL2Cache(), "resetting the L2 cache") ||
        !right(cudaMemsetAsync(t->buffer, t->value++, t->bytes), "overwriting the L2 cache") ||
        !right(cudaDeviceSynchronize(), "overwriting the L2 cache"))
        return false;
    t->begun = clock_seconds();
    hold<<<1, 1>>>(hold_cycles);
    return right(cudaGetLastError(), "holding the stream") &&
           right(cudaEventRecord(t->begin), "an event");
}

/* The numbers stay on the stack: no kernel reaches what the driver does not map. */
bool timer_stop(struct timer *t, struct times *times) {
    float milliseconds = 0;
    cudaError_t error = cudaEventRecord(t->end);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    const double seconds = clock_seconds() - t->begun;
    if (error == cudaSuccess) error = cudaEventElapsedTime(&milliseconds, t->begin, t->end);
    *times = (struct times){milliseconds * 1e-3, seconds};
    return right(error, "a kernel failed");
}
