// A host whose arrays are no matrices of floats: doubles in one dimension, bytes, and ints in
// three. Prints what is counted, kept and found, and how the launch ended. Arguments: how much too
// far the last store is.
#include "../../engine/cuda/runtime/runtime.h"
#include "../../engine/engine.h"
#include "../../engine/watch/record/counts.h"
#include "../../engine/watch/record/trace.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void run(int n, const double *x, const unsigned char *flags, int *cube, int too_far);

enum { X, FLAGS, CUBE, N = 2 * 3 * 5 };

static struct engine_array array_of(const char *name, const void *elements, enum element element,
                                    enum role role) {
    return (struct engine_array){.name = name,
                                 .elements = elements,
                                 .element = element,
                                 .role = role,
                                 .dimensions = 1,
                                 .extent = {N},
                                 .phase_axis = -1,
                                 .axis_of = {-1, -1, -1}};
}

static void say_counts(void) {
    const struct counted_launch *launches;
    counts_launches(&launches);
    printf("elements %llu %llu %llu needed %llu\n",
           (unsigned long long)launches->of[X][COUNTED_LOADS].elements,
           (unsigned long long)launches->of[FLAGS][COUNTED_LOADS].elements,
           (unsigned long long)launches->of[CUBE][COUNTED_STORES].elements,
           (unsigned long long)launches->needed);
    printf("bytes %llu %llu %llu\n", (unsigned long long)launches->of[X][COUNTED_LOADS].bytes,
           (unsigned long long)launches->of[FLAGS][COUNTED_LOADS].bytes,
           (unsigned long long)launches->of[CUBE][COUNTED_STORES].bytes);
}

static void say_phases(void) {
    const struct phases *p = phases_shown();
    const struct phase_array *shared = &p->phases[0].arrays[0];
    double third = 0;
    element_value(shared->element, shared->bytes + 3 * element_type_bytes(shared->element), &third);
    printf("phase %s %s %zu %g by %d, stored %d %d\n", shared->name,
           element_type_name(shared->element), shared->count, third, shared->writer[3],
           p->stored[CUBE][15], p->stored[CUBE][16]);
}

/* The last access of each array, by the block that is kept. */
static void say_trace(void) {
    const struct trace *t = trace_shown();
    static const int arrays[] = {X, FLAGS, CUBE, TRACE_SHARED};
    for (int a = 0; a < 4; a++) {
        const int array = arrays[a];
        const struct trace_access *last = NULL;
        double value = 0;
        for (size_t i = 0; i < t->count; i++)
            if (t->access[i].array == array) last = &t->access[i];
        if (!last) continue;
        element_value(trace_element(t, array), last->bytes, &value);
        printf("trace %d %s %lld %d %g\n", array, element_type_name(trace_element(t, array)),
               (long long)last->offset, last->elements, value);
    }
}

int main(int argc, char **argv) {
    static double x[N];
    static unsigned char flags[N];
    void *memory[3];
    struct engine_run watched = {0};
    struct engine_result result;
    for (int i = 0; i < N; i++) x[i] = i + 0.25, flags[i] = i % 3 != 0;
    cudaMalloc(&memory[X], sizeof x);
    cudaMalloc(&memory[FLAGS], sizeof flags);
    cudaMalloc(&memory[CUBE], 2 * N * sizeof(int));
    cudaMemcpy(memory[X], x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemcpy(memory[FLAGS], flags, sizeof flags, cudaMemcpyHostToDevice);
    watched.arrays[X] = array_of("x", memory[X], ELEMENT_F64, ROLE_INPUT);
    watched.arrays[FLAGS] = array_of("flags", memory[FLAGS], ELEMENT_U8, ROLE_INPUT);
    watched.arrays[CUBE] = array_of("cube", memory[CUBE], ELEMENT_I32, ROLE_OUTPUT);
    watched.arrays[CUBE].dimensions = 3;
    memcpy(watched.arrays[CUBE].extent, (int64_t[]){2, 3, 5}, sizeof watched.arrays[CUBE].extent);
    watched.keeps = KEEP_COUNTS | KEEP_PHASES | KEEP_BLOCK;
    watched.limits.alone_threads = UINT64_MAX;
    engine_begin(&watched);
    run(N, (double *)memory[X], (unsigned char *)memory[FLAGS], (int *)memory[CUBE],
        argc > 1 ? atoi(argv[1]) : 0);
    const cudaError_t ended = cudaDeviceSynchronize();
    engine_end(&result);
    say_counts();
    say_phases();
    say_trace();
    struct finding_words words;
    char element[ELEMENT_TEXT];
    finding_say(&result.finding, &words);
    finding_element(&result.finding, element, sizeof element);
    printf("%s\n%s\n%s\n%s\n", words.what, element, words.detail, cudaGetErrorName(ended));
    return 0;
}
