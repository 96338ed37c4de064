// check_run.c: one shape of make check, in a process that ends with it.
//
// As main.cu does it, with two differences: arrays are allocated without guards, because here every
// access is watched and their bounds are known; and what the engine saw comes before what the
// outputs hold.
#include "../../cuda/include/cuda_runtime_api.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../report/text/text.h"
#include "../../show/page/walk.h"
#include "check.h"

static struct outcome *outcome;

// What --counts and --phases are about. Written however the run ends.
static const struct check_options *asked;
static struct array_data shown_arrays; // the host's arrays

static void fault_of_machine(const char *what) {
    snprintf(outcome->machine_fault, sizeof outcome->machine_fault, "%s", what);
    outcome->done = true;
    _exit(EXIT_MACHINE);
}

static double started;

// However the run ends: what was asked for about it.
static void report(void) {
    if (asked->walk) engine_add_launch(&outcome->finding, true);
    print_report(asked, outcome, &shown_arrays);
    if (!asked->walk_data) return;
    struct walk_asked walk = {asked->launch, asked->launch_given, asked->counts, asked->run.which};
    walk.which.shape = outcome->shape;
    outcome->walked = walk_data(asked->walk_data, &walk, outcome, &shown_arrays);
    if (fflush(asked->walk_data) != 0 || ferror(asked->walk_data))
        outcome->walked.result = WALK_NO_DISK;
}

static void end_with(const struct finding *finding) {
    if (finding->kind == FINDING_NONE) return;
    outcome->finding = *finding;
    engine_add_launch(&outcome->finding, true);
    // For a cause: it may be in another launch than the finding.
    for (uint64_t i = 0; i < OUTCOME_LAUNCHES && outcome->launches > 1; i++)
        engine_find_launch(i + 1, true, &outcome->launch[i]);
    outcome->seconds = clock_seconds() - started;
    report();
    outcome->done = true;
    fflush(stdout);
    _exit(EXIT_WRONG);
}

// Does not return where something was found.
static void run_ended(const struct engine_result *result) {
    outcome->blocks = result->blocks;
    outcome->launches = (uint64_t)result->launches;
    end_with(&result->finding);
}

// Where nothing was seen before, the parent says that it did.
static void wrapper_exited(void) {
    struct engine_result result;
    engine_exited(&result);
    run_ended(&result);
}

// So few operations need no second core, and blocks in the same order each time show the same;
// unless the launch is far larger than they are.
static const double small = 2.0 * 64 * 64 * 64;
static const uint64_t threads_of_small = 64 * 64 * 128; // a block of 128 an element of C is usual

// Of the shape that runs: the same in each of its calls.
static const struct writers *writers_of_shape(void) {
    static bool has_asked;
    static const struct writers *said;
    if (!has_asked)
        said = ask_writers(asked, outcome->shape, PLAIN_SHARE, &outcome->plain_is_correct);
    has_asked = true;
    return said;
}

// A block of the usual shapes takes some milliseconds. One that takes longer and has shown a
// mistake may well not end.
static const double usual_block_seconds = 0.5;

// An error before the wrapper runs, or after it went well, is the machine's. Null: there is none.
static void stop_at(const char *problem) {
    if (problem) fault_of_machine(problem);
}

// Of the elements that a square array of the widest extent would have.
static void *zeros(const struct shape *s) {
    const size_t widest = (size_t)lab_widest(&lab, s), bytes = widest * widest * sizeof(double);
    void *memory;
    if (cudaMalloc(&memory, bytes) != cudaSuccess || cudaMemset(memory, 0, bytes) != cudaSuccess)
        fault_of_machine("no memory for zeros");
    return memory;
}

static void run_watched(const struct host_arrays *device) {
    const struct shape *s = &device->shape;
    struct engine_run run = host_run(s, device->elements);
    run.keeps = (asked->counts ? KEEP_COUNTS : 0) | (asked->phases ? KEEP_PHASES : 0) |
                (asked->walk_data ? KEEP_BLOCK : 0);
    memcpy(run.block, asked->block.of, sizeof run.block);
    run.launch = asked->launch;
    if (!asked->all_blocks && !run.keeps && !asked->locals_seen) run.writers = writers_of_shape;
    run.limits.block_seconds = asked->run.timeout;
    if (!asked->run.sized) run.limits.block_seconds_then = usual_block_seconds;
    run.limits.launch_seconds = CHECK_LAUNCH_BLOCKS * asked->run.timeout;
    if (asked->locals_seen)
        run.limits.alone_threads = UINT64_MAX;
    else if (truth_operations(s) <= small)
        run.limits.alone_threads = threads_of_small;
    run.stopped = run_ended;
    run.machine_fault = fault_of_machine;
    if (asked->locals_seen) locals_watch(asked->locals_seen, &asked->locals_change, zeros(s));
    engine_begin(&run);
    outcome->in_wrapper = true;
    child_exits_by(wrapper_exited);
    host_call(device);
    cudaDeviceSynchronize();
    child_exits_by(NULL);
    struct engine_result result;
    engine_end(&result);
    run_ended(&result);
    outcome->in_wrapper = false;
}

static void unchanged(const struct host_data *sent, const struct host_data *back, int array) {
    const struct damage damage = data_damage(sent, back, array);
    if (!damage.elements) return;
    struct finding finding = {FINDING_INPUT_WRITTEN};
    check_file(finding.at.file, sizeof finding.at.file);
    snprintf(finding.object.name, sizeof finding.object.name, "%s", lab.arrays[array].name);
    slot_set(finding.slot, SLOT_COUNT, (int64_t)damage.elements);
    end_with(&finding);
}

// Outputs that came back, for the inputs that were sent.
static void judge_result(const struct host_data *sent, const struct host_data *back) {
    const void *arrays[LAB_ARRAYS];
    struct verdict verdict;
    struct finding finding = {};
    struct explained explained = {};
    data_judged(sent, back, arrays);
    if (!truth_verify(&sent->which, arrays, &verdict))
        fault_of_machine("no memory to compare the result");
    if (!judge_verdict(&sent->which, arrays, &verdict, &finding, &explained)) return;
    struct finding failed;
    engine_forgotten_failure(&failed);
    end_with(&failed);
    check_file(finding.at.file, sizeof finding.at.file);
    finding.at.known = true;
    engine_add_store(&finding);
    if (finding.other.known) explained.hint[0] = '\0';
    outcome->explained = explained;
    end_with(&finding);
}

static void judge_arrays(const struct host_data *sent, const struct host_data *back) {
    for (int i = 0; i < sent->layout.arrays; i++) {
        if (lab.arrays[i].role == ROLE_INPUT) continue;
        shown_arrays.of[i] = back->elements[i];
        outcome->hash_of_c =
            check_hash(back->elements[i], back->layout.bytes[i], outcome->hash_of_c);
    }
    judge_result(sent, back);
    for (int i = 0; i < sent->layout.arrays; i++) unchanged(sent, back, i);
}

static void run_once(const struct host_data *sent, const struct host_data *back) {
    struct host_arrays device = {sent->which.shape, sent->layout, HOST_BARE};
    stop_at(host_allocate(&device, NULL));
    stop_at(host_send(&device, sent->memory));
    run_watched(&device);
    stop_at(host_bring_back(&device, back->memory));
    judge_arrays(sent, back);
    struct finding leak;
    engine_leak(&leak);
    end_with(&leak);
    stop_at(host_free(&device));
}

void run_shape(const struct check_options *options, struct shape s, struct outcome *result) {
    started = clock_seconds();
    outcome = result;
    outcome->shape = s;
    asked = options;
    struct lab_case which = options->run.which;
    which.shape = s;
    struct host_data sent = data_new(&which, false), back = data_room(&sent);
    if (!sent.memory || !back.memory) fault_of_machine("no memory for the arrays on the host");
    for (int i = 0; i < sent.layout.arrays; i++)
        if (lab.arrays[i].role == ROLE_INPUT) shown_arrays.of[i] = sent.elements[i];
    for (outcome->call = 1; outcome->call <= options->calls; outcome->call++)
        run_once(&sent, &back);
    outcome->call = 0;
    outcome->seconds = clock_seconds() - started;
    report();
    data_free(&sent);
    data_free(&back);
    outcome->done = true;
}

bool child_run_shape(const struct check_options *o, struct shape shape,
                     const struct child_limits *limits, struct outcome *result) {
    if (child_quiet(shape, limits)) {
        run_shape(o, shape, result);
        child_end();
    }
    return result->done;
}
