/* l2.cu: see l2.h. */
#include "l2.h"

#include <stdio.h>
#include <stdlib.h>

/* Twice: half of what was there may survive being overwritten once, as caches choose what goes. */
static const size_t times_l2 = 2;
static const long long hold_cycles = 100000; /* 50 microseconds at 2 GHz */

struct l2 {
    void *buffer;
    size_t bytes;
    unsigned char value; /* of the last flush: another each time, so that lines do change */
};

static char reason[200];

const char *l2_error(void) { return reason; }

static bool right(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return true;
    snprintf(reason, sizeof reason, "%s: %s (%s)", what, cudaGetErrorString(error),
             cudaGetErrorName(error));
    cudaGetLastError(); /* or the next kernel's launch would report it as its own */
    return false;
}

struct l2 *l2_new(void) {
    int device, bytes = 0;
    struct l2 *l2 = (struct l2 *)calloc(1, sizeof *l2);
    if (l2 && right(cudaGetDevice(&device), "the GPU") &&
        right(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device), "its L2 cache")) {
        l2->bytes = times_l2 * (size_t)bytes;
        if (right(cudaMalloc(&l2->buffer, l2->bytes), "memory to overwrite the L2 cache"))
            return l2;
    }
    free(l2);
    return NULL;
}

void l2_free(struct l2 *l2) {
    if (l2) cudaFree(l2->buffer);
    free(l2);
}

bool l2_flush(struct l2 *l2, cudaStream_t stream) {
    return right(cudaCtxResetPersistingL2Cache(), "resetting the L2 cache") &&
           right(cudaMemsetAsync(l2->buffer, l2->value++, l2->bytes, stream),
                 "overwriting the L2 cache");
}

static __global__ void wait(long long cycles) {
    long long begun = clock64();
    while (clock64() - begun < cycles) continue;
}

bool l2_hold(cudaStream_t stream) {
    wait<<<1, 1, 0, stream>>>(hold_cycles);
    return right(cudaGetLastError(), "holding the stream");
}
