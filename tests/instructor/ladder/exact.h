/* What drivers of two rungs share: matrices whose products are exact in float32. */
#pragma once
#include "../../cuda/programs/check.h"
#include <math.h>

/* On the device and the host; the caller frees it. */
static float *new_matrix(size_t elements, unsigned seed) {
    float *p;
    OK(cudaMallocManaged(&p, elements * sizeof *p));
    for (size_t i = 0; i < elements; ++i) {
        seed = seed * 1664525u + 1013904223u;
        p[i] = (float)(int)(seed >> 28) - 8; /* every sum is exact */
    }
    return p;
}
