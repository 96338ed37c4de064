// A host of the engine whose arrays are no matrices of floats: doubles in one dimension, bytes, and
// ints in three. Prints what is counted, kept and found, and how the launch ended. Argument: how
// much too far the last store is.
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
                                    enum role role, int count) {
    struct engine_array array = {.name = name, .elements = elements, .element = element};
    array.role = role;
    array.dimensions = 1;
    array.extent[0] = count;
    array.phase_axis = -1;
    memset(array.axis_of, -1, sizeof array.axis_of);
    return array;
}

static void say(const struct engine_result *result, cudaError_t ended) {
    static const int arrays[] = {X, FLAGS, CUBE, TRACE_SHARED};
    const struct counted_launch *counted;
    counts_launches(&counted);
    for (int a = X; a <= CUBE; a++) {
        const struct counted *of = &counted->of[a][a == CUBE ? COUNTED_STORES : COUNTED_LOADS];
        printf("%d elements, %d bytes; ", (int)of->elements, (int)of->bytes);
    }
    printf("needed %d\n", (int)counted->needed);

    const struct phases *p = phases_shown();
    const struct phase_array *shared = &p->phases[0].arrays[0];
    double value = 0;
    element_value(shared->element, shared->bytes + 3 * element_type_bytes(shared->element), &value);
    printf("phase %s %s %zu %g by %d, stored %d %d\n", shared->name,
           element_type_name(shared->element), shared->count, value, shared->writer[3],
           p->stored[CUBE][15], p->stored[CUBE][16]);

    const struct trace *t =
        trace_shown(); /* the last access of each array, by the block that is kept */
    for (int a = 0; a < 4; a++) {
        const struct trace_access *last = NULL;
        const enum element element = trace_element(t, arrays[a]);
        for (size_t i = 0; i < t->count; i++)
            if (t->access[i].array == arrays[a]) last = &t->access[i];
        if (!last) continue;
        element_value(element, last->bytes, &value);
        printf("trace %d %s %lld %d %g\n", arrays[a], element_type_name(element),
               (long long)last->offset, last->elements, value);
    }

    struct finding_words words;
    char element[ELEMENT_TEXT];
    finding_say(&result->finding, &words);
    finding_element(&result->finding, element, sizeof element);
    printf("%s\n%s\n%s\n%s\n", words.what, element, words.detail, cudaGetErrorName(ended));
}

int main(int argc, char **argv) {
    struct engine_run watched = {.keeps = KEEP_COUNTS | KEEP_PHASES | KEEP_BLOCK,
                                 .limits.alone_threads = UINT64_MAX};
    struct engine_result result;
    double host_x[N], *x;
    unsigned char host_flags[N], *flags;
    int *cube;
    for (int i = 0; i < N; i++) host_x[i] = i + 0.25, host_flags[i] = i % 3 != 0;
    cudaMalloc((void **)&x, sizeof host_x);
    cudaMalloc((void **)&flags, sizeof host_flags);
    cudaMalloc((void **)&cube, 2 * N * sizeof(int));
    cudaMemcpy(x, host_x, sizeof host_x, cudaMemcpyHostToDevice);
    cudaMemcpy(flags, host_flags, sizeof host_flags, cudaMemcpyHostToDevice);
    watched.arrays[X] = array_of("x", x, ELEMENT_F64, ROLE_INPUT, N);
    watched.arrays[FLAGS] = array_of("flags", flags, ELEMENT_U8, ROLE_INPUT, N);
    watched.arrays[CUBE] = array_of("cube", cube, ELEMENT_I32, ROLE_OUTPUT, 2);
    watched.arrays[CUBE].dimensions = 3;
    watched.arrays[CUBE].extent[1] = 3;
    watched.arrays[CUBE].extent[2] = 5;
    engine_begin(&watched);
    run(N, x, flags, cube, argc > 1 ? atoi(argv[1]) : 0);
    const cudaError_t ended = cudaDeviceSynchronize();
    engine_end(&result);
    say(&result, ended);
    return 0;
}
