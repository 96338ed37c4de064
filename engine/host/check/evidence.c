/* One more run of a wrapper, to learn what its kernel computes: what went wrong, or what it could
 * do better.
 *
 * Inputs hold values that say which element they are, so that a shared array's elements can be
 * traced back to them; the arrays lie in the middle of larger allocations, so that the run goes on
 * past an index that is outside. Before it there is a run on the lab's own values: what an index
 * computes in both does not depend on them. */
#define _GNU_SOURCE
#include "../../cuda/program/program.h"
#include "../../explain/outcome.h"
#include "../../show/show.h"
#include "../../watch/detector.h"
#include "../../watch/launches.h"
#include "../../watch/record/record.h"
#include "check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

_Static_assert((int)OUTCOME_LAUNCHES == TRACE_LAUNCHES, "--launch shows what is kept");

static const int64_t elements_of_one = 1 << 20; /* arrays are smaller */
/* A float holds all codes; neither what a lab's inputs hold nor a sum of codes is one. */
static const int64_t first_code = LAB_ARRAYS * (1 << 20);

static bool decode(double value, int *array, int64_t *offset) {
    if (!(value >= (double)first_code && value < (double)(2 * first_code)) || value != floor(value))
        return false;
    *array = (int)(((int64_t)value - first_code) / elements_of_one);
    *offset = ((int64_t)value - first_code) % elements_of_one;
    return *array < lab_arrays(&lab) && lab.arrays[*array].role == ROLE_INPUT;
}

/* What inputs hold: the lab's values; codes; or, where the kernel has taken codes for indices and
 * so come to no end, codes in none but arrays of floats. */
enum values { VALUES_OWN, VALUES_CODED, VALUES_CODED_FLOATS };

static bool is_coded(const struct lab_array *array, enum values values) {
    const enum element e = array->element;
    return array->role == ROLE_INPUT && element_type_bytes(e) >= sizeof(float) &&
           (values == VALUES_CODED || e == ELEMENT_F32 || e == ELEMENT_F64);
}

/* Puts another value in place of each one: as good an index, if that is what it is, because it is
 * in the same range; but where all are the same. */
static void change(enum element type, char *elements, int64_t count) {
    const size_t size = element_type_bytes(type);
    double least = INFINITY, most = -INFINITY, value = 0;
    for (int64_t at = 0; at < count; at++) {
        element_value(type, elements + (size_t)at * size, &value);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    const double range = most - least + 1, shift = range > 1 ? floor(range / 3) + 1 : 1;
    for (int64_t at = 0; at < count; at++) {
        element_value(type, elements + (size_t)at * size, &value);
        value += value + shift <= most ? shift : range > 1 ? shift - range : value > 0 ? -1 : 1;
        element_set(type, elements + (size_t)at * size, value);
    }
}

static void set_codes(enum element type, char *elements, int64_t count, int array) {
    const int64_t code = first_code + array * elements_of_one;
    for (int64_t at = 0; at < count; at++)
        element_set(type, elements + (size_t)at * element_type_bytes(type), (double)(code + at));
}

/* A case's arrays, with such values in its inputs. */
static struct host_data data_with(enum values values, struct shape shape) {
    const struct lab_case which = {.shape = shape};
    struct host_data data = data_new(&which, false);
    for (int i = 0; i < data.layout.arrays && data.memory && values != VALUES_OWN; i++) {
        const struct lab_array *array = &lab.arrays[i];
        const int64_t count = lab_elements(array, &shape);
        if (is_coded(array, values))
            set_codes(array->element, data.elements[i], count, i);
        else if (role_has_values(array->role))
            change(array->element, data.elements[i], count);
    }
    return data;
}

/* --- the run ---------------------------------------------------------------------------------- */

/* What the run on the lab's values has made. */
struct own {
    struct trace launch[TRACE_LAUNCHES];
    int launches;
    bool ended;   /* as in `run` */
    bool strayed; /* this one has ended, but not the one with codes in place of indices */
    struct trace_access access[]; /* of all launches */
};

static struct {
    const struct check_options *options;
    struct shape shape;
    const struct outcome *failed;
    struct outcome *outcome;
    FILE *indices;
    enum values values;
    struct own *own; /* shared with children */
    bool ended;      /* the wrapper has returned, and each launch has come to its end */
    void (*stopped)(const struct engine_result *result);
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

/* Sets *cause, if this run proves one that the failed run comes from. */
static void prove_cause(struct cause *cause) {
    if (!cause_of_formula(decode, run.ended, run.failed, cause) ||
        (!cause->kind && lab_rules.find &&
         !lab_rules.find(decode, run.shape, run.ended, run.failed, cause)))
        machine_fault("out of memory");
}

static void conclude(void) {
    run.own->strayed = run.own->ended && !run.ended && run.values == VALUES_CODED;
    if (run.own->strayed) return;
    run.outcome->launches = launches_noted();
    if (run.failed) prove_cause(&run.outcome->cause);
    if (run.indices) say_indices();
    run.outcome->done = !run.indices || fflush(run.indices) == 0;
}

static void evidence_stopped(const struct engine_result *result) {
    (void)result;
    conclude();
    _exit(EXIT_WRONG);
}

static const double longest_evidence = 0.5; /* seconds for a block, which takes some milliseconds */

static void exited(void) { run.stopped(NULL); }

/* Runs the wrapper once, on arrays of this shape with margins, so many seconds of processor time
 * for a launch at most, its loads and stores counted if `counts` says so, `writers` as in engine.h;
 * their trace (record.h) is kept. Returns whether nothing wrong was seen; a mistake that ends the
 * run calls `stopped`, as exit() does, and the machine's fault ends the process. */
static bool evidence_run(enum values values, struct shape s, double seconds, bool counts,
                         const struct writers *(*writers)(void),
                         void (*stopped)(const struct engine_result *result)) {
    run.shape = s;
    run.stopped = stopped;
    struct host_data data = data_with(values, s);
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
    checked.launch = run.indices ? run.options->launch : 0;
    checked.writers = writers;
    checked.stopped = stopped;
    checked.machine_fault = machine_fault;
    audit_nothing();
    engine_begin(&checked);
    child_exits_by(exited);
    host_call(&device);
    child_exits_by(NULL);
    run.ended = cudaDeviceSynchronize() == cudaSuccess; /* no launch was stopped */
    engine_end(&result);
    return result.finding.kind == FINDING_NONE;
}

static void leave_accesses(void) {
    struct own *own = run.own;
    struct trace_access *next = own->access;
    const struct trace *const *traces;
    const int launches = trace_launches(&traces);
    for (int i = 0; i < launches; i++) {
        const size_t count = traces[i]->count;
        own->launch[i] = *traces[i];
        own->launch[i].access = next;
        if (count) memcpy(next, traces[i]->access, count * sizeof *next);
        next += count;
    }
    own->launches = launches;
    own->ended = run.ended;
}

static void own_stopped(const struct engine_result *result) {
    (void)result;
    leave_accesses();
    _exit(EXIT_PASSED);
}

/* In a child: with the lab's values, or with others, of which the rest is told. */
static void run_values(enum values values, struct shape s) {
    const bool own = values == VALUES_OWN;
    const double seconds = CHECK_LAUNCH_BLOCKS * fmin(run.options->run.timeout, longest_evidence);
    if (!child_quiet(s, &short_run)) return;
    run.values = values;
    recover_beside(run.own->launch, run.own->launches);
    evidence_run(values, s, seconds, false, NULL, own ? own_stopped : evidence_stopped);
    if (own)
        leave_accesses();
    else
        conclude();
    child_end();
}

void run_evidence(const struct check_options *options, struct shape s, const struct outcome *failed,
                  FILE *indices, struct outcome *outcome) {
    const size_t bytes = sizeof *run.own + TRACE_MOST * sizeof run.own->access[0];
    run.options = options;
    run.failed = failed;
    run.outcome = outcome;
    run.indices = indices;
    run.own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);
    if (run.own == MAP_FAILED) return;
    for (enum values values = VALUES_OWN; values <= VALUES_CODED; values++) run_values(values, s);
    if (run.own->strayed) run_values(VALUES_CODED_FLOATS, s);
}

/* --- what a correct kernel could do better: runs that remarks are made of --------------------- */

static const double remark_seconds = 5; /* for a launch: a remark is worth no more */

static void remark_stopped(const struct engine_result *result) {
    (void)result;
    _exit(EXIT_WRONG);
}

/* Which blocks write does not depend on the values that they read, as far as a remark goes. */
static const struct writers *writers_of_remark(void) {
    const struct check_options plain = {.run = {.timeout = remark_seconds}};
    bool correct;
    return ask_writers(&plain, run.shape, PLAIN_SHARE, &correct);
}

/* Of counts; sets outcome->finding.launch, too. */
static void run_counts(struct shape shape, struct outcome *outcome) {
    outcome->done =
        evidence_run(VALUES_OWN, shape, remark_seconds, true, writers_of_remark, remark_stopped);
    if (!outcome->done) return;
    outcome->blocks = surplus_seen();
    remark_counts(shape, &outcome->remark);
    engine_add_launch(&outcome->finding, true);
}

static void run_barriers(struct shape shape, struct outcome *outcome) {
    outcome->done =
        evidence_run(VALUES_OWN, shape, remark_seconds, false, writers_of_remark, remark_stopped);
    if (outcome->done) remark_barriers(&outcome->remark);
}

static const struct remark no_remark = {.kind = REMARK_NONE};

/* In their parent. `room` is shared with the child. */
static struct remark gather(void (*make)(struct shape shape, struct outcome *outcome),
                            struct shape shape, struct outcome *room) {
    const struct child_limits limits = {remark_seconds, 30};
    memset(room, 0, sizeof *room);
    if (child_quiet(shape, &limits)) {
        make(shape, room);
        child_end();
    }
    return room->done ? room->remark : no_remark;
}

/* A barrier that is not needed at the edges, nor on a shape without any. */
static struct remark find_barrier(const struct outcome *counted, struct outcome *room) {
    struct shape edges, whole;
    if (!evidence_shape(counted, &edges)) return no_remark;
    const struct remark remark = gather(run_barriers, edges, room);
    if (!remark.kind || !truth_shape(SHAPE_WHOLE, 0, 0, &whole)) return remark;
    return gather(run_barriers, whole, room).line == remark.line ? remark : no_remark;
}

struct remark find_remark(struct outcome *room) {
    struct shape shape;
    if (!truth_shape(SHAPE_COUNT, 0, 0, &shape)) return no_remark;
    const struct remark first = gather(run_counts, shape, room);
    const struct outcome counted = *room;
    if (first.kind && first.kind < REMARK_UNNEEDED_BARRIER) return first;
    if (first.kind && counted.blocks.all) return first; /* so many blocks come before a barrier */
    const struct remark barrier = find_barrier(&counted, room);
    return barrier.kind ? barrier : first;
}
