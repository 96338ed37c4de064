/* What a lab is timed beside that has no speed.cu of its own: a copy in the GPU's memory of half as
 * many bytes as its arrays have, which reads and writes as much as a kernel has to. What is right
 * is lab_truth's, on the host, with the lab's usual fill. See struct lab_speed of engine/lab.h. */
#include "../../engine/host/host.h"
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct copy {
    struct speed speed; /* first: what others see of it */
    struct host_data sent, back;
    void *from, *to; /* on the device */
    size_t bytes;
};

static const char *failed(const char *what, cudaError_t error) {
    static char text[200];
    if (error == cudaSuccess) return NULL;
    snprintf(text, sizeof text, "%s: %s", what, cudaGetErrorString(error));
    return text;
}

/* Otherwise a kernel could know the values, and what comes of them, from the run before. */
static bool depends_on_seed(struct copy *c) {
    const struct host_data *back = &c->back;
    memcpy(back->memory, c->sent.memory, back->layout.all);
    c->sent.which.seed++;
    lab_truth.fill(&c->sent.which, c->sent.elements);
    return memcmp(back->memory, c->sent.memory, back->layout.all) != 0;
}

static const char *begin(const struct shape *shape, struct speed **speed) {
    const struct lab_case which = {.shape = *shape};
    struct copy *c = calloc(1, sizeof *c);
    if (!c) return "out of memory";
    *speed = &c->speed;
    c->sent = data_new(&which, false);
    c->back = data_room_for(&which);
    if (!c->sent.memory || !c->back.memory) return "out of memory";
    for (int i = 0; i < lab_arrays(&lab); i++) {
        if (role_has_values(lab.arrays[i].role)) c->speed.in[i] = c->sent.elements[i];
        if (role_is_output(lab.arrays[i].role)) c->speed.out[i] = c->back.elements[i];
        c->bytes += c->sent.layout.bytes[i];
    }
    if (!depends_on_seed(c)) return "the lab's usual fill does not depend on the seed";
    c->bytes = (c->bytes + 1) / 2;
    const char *problem = failed("device memory", cudaMalloc(&c->from, c->bytes));
    return problem ? problem : failed("device memory", cudaMalloc(&c->to, c->bytes));
}

static const char *fill(struct speed *speed, uint64_t seed) {
    struct copy *c = (struct copy *)speed;
    c->sent.which.seed = seed;
    lab_truth.fill(&c->sent.which, c->sent.elements);
    return NULL;
}

static const char *run(struct speed *speed) {
    const struct copy *c = (const struct copy *)speed;
    return failed("a copy", cudaMemcpyAsync(c->to, c->from, c->bytes, cudaMemcpyDefault, NULL));
}

static const char *verify_copy(struct speed *speed, struct verdict *verdict) {
    const struct copy *c = (const struct copy *)speed;
    const void *arrays[LAB_ARRAYS];
    data_judged(&c->sent, &c->back, arrays);
    return truth_verify(&c->sent.which, arrays, verdict) ? NULL : "out of memory";
}

static void end(struct speed *speed) {
    struct copy *c = (struct copy *)speed;
    cudaFree(c->from);
    cudaFree(c->to);
    data_free(&c->sent);
    data_free(&c->back);
    free(c);
}

const struct lab_speed lab_speed = {begin, fill, false, run, verify_copy, end};
