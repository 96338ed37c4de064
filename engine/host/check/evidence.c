/* One more run of a wrapper that went wrong, to learn what its kernel computes.
 *
 * Inputs hold values that say which element they are, so that a shared array's elements can be
 * traced back to them; the arrays lie in the middle of larger allocations, so that the run goes on
 * past an index that is outside. */
#include "../../cuda/program/program.h"
#include "../../explain/rules.h"
#include "../../show/show.h"
#include "../../watch/detectors/unannounced.h"
#include "../../watch/launches.h"
#include "../../watch/record/trace.h"
#include "cause.h"
#include "check.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- how wide it is --------------------------------------------------------------------------- */

static const int widest_tile = 64; /* a run on twice as many rows takes no second */

static int larger(int a, size_t b) { return b <= (size_t)widest_tile && (int)b > a ? (int)b : a; }

/* Of the shared arrays that the kernel declares, and of a two-dimensional block. */
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
    return width > 1 ? width : EVIDENCE_TILE;
}

bool evidence_shape(const struct outcome *run, struct shape *shape) {
    return truth_shape(SHAPE_TELL, 0, evidence_tile(run), shape);
}

_Static_assert((int)OUTCOME_LAUNCHES == TRACE_LAUNCHES && (int)OUTCOME_LAUNCHES == PHASES_LAUNCHES,
               "--launch shows what is kept");

/* --- values ----------------------------------------------------------------------------------- */

static const int elements_of_one = 1 << 22; /* arrays are smaller; a float holds all values */

static double value_at(int array, int64_t element) {
    return (double)(1 + (int64_t)array * elements_of_one + element);
}

static bool decode(double value, int *array, int64_t *offset) {
    if (!(value >= 1 && value < (double)LAB_ARRAYS * elements_of_one) ||
        value != (double)(int64_t)value)
        return false;
    *array = (int)(((int64_t)value - 1) / elements_of_one);
    *offset = ((int64_t)value - 1) % elements_of_one;
    return *array < lab_arrays(&lab) && lab.arrays[*array].role == ROLE_INPUT;
}

static void code(const struct host_data *data, int array) {
    const enum element element = lab.arrays[array].element;
    const size_t size = element_type_bytes(element);
    char *const elements = data->elements[array];
    for (size_t i = 0; i < data->layout.bytes[array] / size; i++)
        element_set(element, elements + i * size, value_at(array, (int64_t)i));
}

/* The case's arrays, with such values in its inputs. */
static struct host_data coded(struct shape shape) {
    const struct lab_case which = {.shape = shape};
    struct host_data data = data_room_for(&which);
    for (int i = 0; i < data.layout.arrays && data.memory; i++)
        if (lab.arrays[i].role == ROLE_INPUT) code(&data, i);
    return data;
}

/* --- the run ---------------------------------------------------------------------------------- */

static struct {
    const struct check_options *options;
    struct shape shape;
    const struct outcome *failed;
    struct outcome *outcome;
    FILE *indices;
    uint64_t launch; /* whose indices; 0: of the first one that loads an input */
} run;

/* No evidence, then: what was found before stays as it is. */
static _Noreturn void machine_fault(const char *what) {
    (void)what;
    _exit(EXIT_MACHINE);
}

static void must(const char *problem) {
    if (problem) machine_fault(problem);
}

static void say_indices(void) {
    struct recovery recovery;
    if (!recover(trace_shown(), decode, &recovery)) machine_fault("out of memory");
    print_indices(run.indices, run.options->run.json, &recovery, run.shape);
    recover_free(&recovery);
}

static void conclude(void) {
    run.outcome->launches = launches_noted();
    struct cause *cause = &run.outcome->cause;
    bool enough = !run.failed || cause_of_formula(decode, run.failed, cause);
    if (enough && run.failed && !cause->kind && lab_rules.find)
        enough = lab_rules.find(decode, run.shape, run.failed, cause);
    if (!enough) machine_fault("out of memory");
    if (run.indices) say_indices();
    run.outcome->done = !run.indices || fflush(run.indices) == 0;
}

static void evidence_stopped(const struct engine_result *result) {
    (void)result;
    conclude();
    _exit(EXIT_WRONG);
}

static const double longest_evidence = 0.5; /* seconds for a block, which takes some milliseconds */

bool evidence_run(struct shape s, double seconds, bool counts,
                  const struct writers *(*writers)(void),
                  void (*stopped_here)(const struct engine_result *result)) {
    struct host_data data = coded(s);
    if (!data.memory) machine_fault("out of memory");
    struct host_arrays device = {.shape = s, .layout = data.layout, .placing = HOST_SPACED};
    must(host_allocate(&device, NULL));
    must(host_send_inputs(&device, data.memory));
    data_free(&data);
    struct engine_run checked = host_run(&s, device.elements);
    struct engine_result result;
    checked.limits = (struct engine_limits){.block_seconds = seconds / CHECK_LAUNCH_BLOCKS,
                                            .launch_seconds = seconds,
                                            .alone_threads = UINT64_MAX};
    checked.keeps = KEEP_TRACE | (counts ? KEEP_COUNTS : 0);
    checked.launch = run.indices ? run.launch : 0;
    checked.writers = writers;
    checked.stopped = stopped_here;
    checked.machine_fault = machine_fault;
    audit_nothing();
    engine_begin(&checked);
    host_call(&device);
    cudaDeviceSynchronize();
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
    run.launch = options->walk_launch ? options->walk_launch : (uint64_t)options->launch;
    const double timeout =
        options->run.timeout < longest_evidence ? options->run.timeout : longest_evidence;
    evidence_run(s, CHECK_LAUNCH_BLOCKS * timeout, false, NULL, evidence_stopped);
    conclude();
}
