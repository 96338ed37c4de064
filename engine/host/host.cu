// host.cu: a lab's arrays on the device, and how the engine is told of them. See host.h.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>

#include "host.h"

static const size_t margin = 1 << 20; // bytes of HOST_SPACED: beyond any wrong row length there

// Null where it went well.
static const char *failed(const char *call, cudaError_t error) {
    static char text[256];
    if (error == cudaSuccess) return NULL;
    snprintf(text, sizeof text, "%s failed: %s", call, cudaGetErrorString(error));
    return text;
}

// The part of array i's buffer that is on the device.
struct part {
    size_t begin, bytes;
};

static struct part part_of(const struct host_arrays *h, int i) {
    if (h->placing == HOST_GUARDED) return {0, h->layout.buffer[i]};
    return {h->layout.guard[i], h->layout.bytes[i]};
}

// Where the part of the buffer begins, in what was allocated.
static size_t before(const struct host_arrays *h) { return h->placing == HOST_SPACED ? margin : 0; }

const char *host_allocate(struct host_arrays *h, host_allocator *allocate) {
    for (int i = 0; i < h->layout.arrays; i++) {
        const struct part part = part_of(h, i);
        const size_t bytes = part.bytes + 2 * before(h);
        const int error =
            allocate ? allocate(&h->allocated[i], bytes) : (int)cudaMalloc(&h->allocated[i], bytes);
        if (error) return failed("cudaMalloc", (cudaError_t)error);
        h->elements[i] = (char *)h->allocated[i] + before(h) + h->layout.guard[i] - part.begin;
    }
    return NULL;
}

static const char *send(const struct host_arrays *h, int i, const void *from) {
    const struct part part = part_of(h, i);
    return failed("cudaMemcpy", cudaMemcpy((char *)h->allocated[i] + before(h),
                                           (const char *)from + h->layout.offset[i] + part.begin,
                                           part.bytes, cudaMemcpyHostToDevice));
}

const char *host_send(const struct host_arrays *h, const void *from) {
    const char *problem = NULL;
    for (int i = 0; i < h->layout.arrays && !problem; i++) problem = send(h, i, from);
    return problem;
}

const char *host_send_inputs(const struct host_arrays *h, const void *from) {
    const char *problem = NULL;
    for (int i = 0; i < h->layout.arrays && !problem; i++)
        if (role_has_values(lab.arrays[i].role)) problem = send(h, i, from);
    return problem;
}

const char *host_bring_back(const struct host_arrays *h, void *to) {
    const char *problem = NULL;
    for (int i = 0; i < h->layout.arrays && !problem; i++) {
        const struct part part = part_of(h, i);
        problem = failed("cudaMemcpy", cudaMemcpy((char *)to + h->layout.offset[i] + part.begin,
                                                  (char *)h->allocated[i] + before(h), part.bytes,
                                                  cudaMemcpyDeviceToHost));
    }
    return problem;
}

const char *host_free(const struct host_arrays *h) {
    const char *problem = NULL;
    for (int i = 0; i < h->layout.arrays && !problem; i++)
        problem = failed("cudaFree", cudaFree(h->allocated[i]));
    return problem;
}

struct engine_run host_run(const struct shape *shape, void *const elements[LAB_ARRAYS]) {
    static struct vocabulary words;
    struct engine_run run = {};
    words = lab_words(&lab);
    for (int i = 0; i < lab_arrays(&lab); i++) {
        const struct lab_array *a = &lab.arrays[i];
        struct engine_array *array = &run.arrays[i];
        array->elements = elements[i];
        array->name = a->name;
        array->element = a->element;
        array->role = a->role;
        array->dimensions = a->dimensions;
        lab_extents(a, shape, array->extent);
        array->phase_axis = a->phase_axis;
        memcpy(array->axis_of, a->axis_of, sizeof array->axis_of);
    }
    run.wrapper = lab_call.wrapper;
    run.words = &words;
    return run;
}
