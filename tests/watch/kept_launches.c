/* Which launches a run keeps: copy_kernel.cu launches kernels that load x, or only fill y.
 * Arguments: engine_run.keeps and .launch; then how many elements each launch copies, in order (0:
 * it fills). Prints the launches of the trace with their accesses, and those of the phases with
 * their phases; and which ones are shown. */
#include "../../engine/cuda/runtime/runtime.h"
#include "../../engine/engine.h"
#include "../../engine/watch/record/counts.h"
#include "../../engine/watch/record/trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void copy(const float *x, float *y, int count);

enum { N = 64 };

static struct engine_array array_of(const char *name, const void *elements, enum role role) {
    return (struct engine_array){.name = name,
                                 .elements = elements,
                                 .element = ELEMENT_F32,
                                 .role = role,
                                 .dimensions = 1,
                                 .extent = {N},
                                 .phase_axis = -1,
                                 .axis_of = {-1, -1, -1}};
}

static void say(void) {
    const struct trace *const *traces;
    const struct phases *phases, *shown = phases_shown();
    const int traced = trace_launches(&traces), count = phases_launches(&phases);
    for (int i = 0; i < traced; i++) printf("%d:%zu ", (int)traces[i]->launch, traces[i]->count);
    printf("shows %d\n", (int)trace_shown()->launch);
    for (int i = 0; i < count; i++)
        printf("%d/%d:%d ", (int)phases[i].number, (int)phases[i].many, phases[i].count);
    printf("shows %d\n", shown ? (int)shown->number : 0);
}

int main(int argc, char **argv) {
    static float x[N];
    void *memory[2];
    struct engine_run watched = {.launch = (uint64_t)atoi(argv[2]),
                                 .keeps = (unsigned)atoi(argv[1])};
    struct engine_result result;
    cudaMalloc(&memory[0], sizeof x);
    cudaMalloc(&memory[1], sizeof x);
    cudaMemcpy(memory[0], x, sizeof x, cudaMemcpyHostToDevice);
    watched.arrays[0] = array_of("x", memory[0], ROLE_INPUT);
    watched.arrays[1] = array_of("y", memory[1], ROLE_OUTPUT);
    watched.limits.alone_threads = UINT64_MAX;
    engine_begin(&watched);
    for (int i = 3; i < argc; i++) copy(memory[0], memory[1], atoi(argv[i]));
    cudaDeviceSynchronize();
    engine_end(&result);
    say();
    return result.finding.kind != FINDING_NONE;
}
