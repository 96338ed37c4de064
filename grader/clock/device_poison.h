/* Poison on the device: what an output holds before each run that counts. Header only, and for C
 * and CUDA, since the clock and the benchmarks of BLAS libraries put it there alike. */
#ifndef GRADER_CLOCK_DEVICE_POISON_H
#define GRADER_CLOCK_DEVICE_POISON_H
#include "../../engine/report/poison.h"
#include <cuda.h>

/* Whole words of these bytes of the device's memory. Asynchronous, on the default stream. */
static inline CUresult poison_device(CUdeviceptr begin, size_t bytes) {
    return cuMemsetD32Async(begin, POISON_BITS, bytes / sizeof(uint32_t), NULL);
}

#endif
