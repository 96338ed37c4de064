/* One more run of a wrapper that went wrong, to learn what its kernel computes.
 *
 * A and B hold values that say which element they are, so that a tile's elements can be traced back
 * to them; the matrices lie in the middle of larger allocations, so that the run goes on past an
 * index that is outside. */
#include "../../lab/cause.h"
#include "../../lab/sgemm.h"
#include "../cuda/program/names.h"
#include "../watch/detectors/unannounced.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- shapes ----------------------------------------------------------------------------------- */

static bool is_prime(int number) {
    for (int divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0) return false;
    return number > 1;
}

static int prime_from(int number) {
    while (!is_prime(number)) number++;
    return number;
}

static const int widest_tile = 64; /* a run on twice as many rows takes no second */

static int larger(int a, size_t b) { return b <= (size_t)widest_tile && (int)b > a ? (int)b : a; }

/* Of the tiles that the kernel declares, and of a two-dimensional block. */
int evidence_tile(const struct outcome *run) {
    const struct shared_name *names;
    const int count = name_list(&names);
    int width = 0;
    for (int i = 0; i < count; i++) {
        struct shared_name name;
        if (!name_find(names[i].offset, &name) || name_is_guard(&name)) continue;
        for (int d = 0; d < name.dimensions && name.dimensions == 2; d++)
            width = larger(width, name.dimension[d]);
    }
    if (run->finding.launch.block[1] > 1 || !width)
        for (int d = 0; d < 2; d++) width = larger(width, run->finding.launch.block[d]);
    return width > 1 ? width : 16;
}

void evidence_shapes(const struct outcome *failed, struct shape shapes[EVIDENCE_SHAPES]) {
    const int tile = evidence_tile(failed);
    /* Two blocks in one direction and three in the other; four phases; edges in all of them. */
    const int two = prime_from(tile + tile / 2 + 1), three = prime_from(2 * tile + 5),
              four = prime_from(three + tile);
    shapes[0] = (struct shape){three, two, four};
    shapes[1] = (struct shape){two, three, four};
    shapes[2] = (struct shape){four, three, two};
}

/* --- values ----------------------------------------------------------------------------------- */

static const int elements_of_one = 1 << 22; /* matrices are smaller; a float holds all values */

static float value_of(int array, int element) {
    return (float)(1 + array * elements_of_one + element);
}

static bool decode(double value, int *array, int64_t *offset) {
    if (!(value >= 1 && value < 2 * elements_of_one) || value != (int)value) return false;
    *array = ((int)value - 1) / elements_of_one;
    *offset = ((int)value - 1) % elements_of_one;
    return true;
}

/* --- the run ---------------------------------------------------------------------------------- */

static struct {
    const struct check_options *options;
    struct shape shape;
    const struct outcome *failed;
    struct outcome *outcome;
    FILE *indices;
} run;

/* No evidence, then: what was found before stays as it is. */
static _Noreturn void machine_fault(const char *what) {
    (void)what;
    _exit(EXIT_MACHINE);
}

static void must(cudaError_t error) {
    if (error != cudaSuccess) machine_fault(cudaGetErrorString(error));
}

static void conclude(void) {
    struct recovery recovery;
    if (!recover(trace_kept(), decode, &recovery)) machine_fault("out of memory");
    if (run.failed) cause_find(&recovery, run.shape, run.failed, &run.outcome->cause);
    if (run.indices) print_indices(run.indices, run.options->run.json, &recovery, run.shape);
    recover_free(&recovery);
    run.outcome->done = !run.indices || fflush(run.indices) == 0;
}

static void stopped(const struct engine_result *result) {
    (void)result;
    conclude();
    _exit(EXIT_WRONG);
}

static const double longest = 0.5;    /* seconds for a block, which takes some milliseconds */
static const size_t margin = 1 << 20; /* bytes, on both sides: beyond any wrong row length here */

static float *allocate(size_t elements) {
    char *memory;
    must(cudaMalloc((void **)&memory, elements * sizeof(float) + 2 * margin));
    return (float *)(memory + margin);
}

static float *coded(int array, int rows, int cols) {
    const size_t elements = (size_t)rows * (size_t)cols;
    float *values = malloc(elements * sizeof *values), *device = allocate(elements);
    if (!values) machine_fault("out of memory");
    for (size_t i = 0; i < elements; i++) values[i] = value_of(array, (int)i);
    must(cudaMemcpy(device, values, elements * sizeof *values, cudaMemcpyHostToDevice));
    free(values);
    return device;
}

bool evidence_run(struct shape s, double seconds, bool counts,
                  const struct writers *(*writers)(void),
                  void (*stopped_here)(const struct engine_result *result)) {
    float *A = coded(SGEMM_A, s.m, s.k), *B = coded(SGEMM_B, s.k, s.n);
    float *C = allocate((size_t)s.m * (size_t)s.n);
    struct engine_run checked = sgemm_run(s.m, s.n, s.k, A, B, C, wrapper_function());
    struct engine_result result;
    checked.limits = (struct engine_limits){.block_seconds = seconds / CHECK_LAUNCH_BLOCKS,
                                            .launch_seconds = seconds,
                                            .alone_threads = UINT64_MAX};
    checked.keeps = KEEP_TRACE | (counts ? KEEP_COUNTS : 0);
    checked.writers = writers;
    checked.stopped = stopped_here;
    checked.machine_fault = machine_fault;
    audit_nothing();
    engine_begin(&checked);
    run_wrapper(s, A, B, C);
    engine_end(&result);
    return result.finding.kind == FINDING_NONE;
}

void run_evidence(const struct check_options *options, struct shape s, const struct outcome *failed,
                  FILE *indices, struct outcome *outcome) {
    run.options = options;
    run.shape = s;
    run.failed = failed;
    run.outcome = outcome;
    run.indices = indices;
    const double timeout = options->run.timeout < longest ? options->run.timeout : longest;
    evidence_run(s, CHECK_LAUNCH_BLOCKS * timeout, false, NULL, stopped);
    conclude();
}
