// check_run.cu: one shape of make check, in a process that ends with it.
//
// As main.cu does it, with two differences: A, B and C are allocated without guards, because here
// every access is watched and their bounds are known; and what the checker saw comes before what C
// holds.
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../../lab/sgemm.h"
#include "../show/page/walk.h"
#include "check.h"

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C);

const void *wrapper_function(void) { return (const void *)basicSgemm; }

void run_wrapper(struct shape s, const float *A, const float *B, float *C) {
    basicSgemm(s.m, s.n, s.k, A, B, C);
    cudaDeviceSynchronize();
}

static struct outcome *outcome;

// What --counts and --phases are about. Written however the run ends.
static const struct check_options *asked;
static struct array_data data; // the host's

static void machine_fault(const char *what) {
    snprintf(outcome->machine_fault, sizeof outcome->machine_fault, "%s", what);
    outcome->done = true;
    _exit(EXIT_MACHINE);
}

// An error before the wrapper runs, or after it went well, is the machine's.
static void must(cudaError_t error, const char *what) {
    char text[MESSAGE_SIZE];
    if (error == cudaSuccess) return;
    snprintf(text, sizeof text, "%s: %s", what, cudaGetErrorString(error));
    machine_fault(text);
}
#define CUDA(call) must(call, #call " failed")

static double started;

// However the run ends: what was asked for about it.
static void report() {
    if (asked->walk) engine_add_launch(&outcome->finding, true);
    print_report(asked, outcome, &data);
    if (!asked->walk_data) return;
    outcome->walked = walk_data(asked->walk_data, asked, outcome, &data);
    if (fflush(asked->walk_data) != 0 || ferror(asked->walk_data))
        outcome->walked.step = WALK_NO_DISK;
}

static void end_with(const struct finding *finding) {
    if (finding->kind == FINDING_NONE) return;
    outcome->finding = *finding;
    engine_add_launch(&outcome->finding, true);
    outcome->seconds = clock_seconds() - started;
    report();
    outcome->done = true;
    fflush(stdout);
    _exit(EXIT_WRONG);
}

static void stopped(const struct engine_result *result) {
    outcome->blocks = result->blocks;
    end_with(&result->finding);
}

void check_file(char *file, size_t bytes) {
    struct finding_party party;
    engine_place(wrapper_function(), &party);
    snprintf(file, bytes, "%s", party.file);
}

// So few products need no second core, and blocks in the same order each time show the same; unless
// the launch is far larger than they are.
static const double small = 64.0 * 64 * 64;
static const uint64_t threads_of_small = 64 * 64 * 128; // a block of 128 an element of C is usual

// Of the shape that runs: the same in each of its calls.
static const struct writers *writers() {
    static bool has_asked;
    static const struct writers *said;
    if (!has_asked) said = ask_writers(asked, outcome->shape);
    has_asked = true;
    return said;
}

// A block of the usual shapes takes some milliseconds. One that takes longer and has shown a
// mistake may well not end.
static const double usual_block_seconds = 0.5;

static size_t bytes_of(const struct matrix *matrix) {
    return (size_t)matrix->rows * (size_t)matrix->cols * sizeof(float);
}

// As many as the largest matrix has elements.
static void *zeros(struct shape s) {
    const int most = s.m > s.n ? s.m : s.n;
    const size_t bytes = (size_t)most * (size_t)(s.k > most ? s.k : most) * sizeof(float);
    void *memory;
    CUDA(cudaMalloc(&memory, bytes));
    CUDA(cudaMemset(memory, 0, bytes));
    return memory;
}

static uint64_t hash_of(const struct matrix *matrix, uint64_t hash) { // FNV-1a
    const unsigned char *bytes = (const unsigned char *)matrix->data;
    for (size_t i = 0; i < bytes_of(matrix); i++) hash = (hash ^ bytes[i]) * 0x100000001B3;
    return hash;
}

static void run_watched(struct shape s, const float *A, const float *B, float *C) {
    struct engine_run run = sgemm_run(s.m, s.n, s.k, A, B, C, wrapper_function());
    const unsigned *block = asked->walk_data ? asked->walk_block : asked->block;
    run.keeps = (asked->counts ? KEEP_COUNTS : 0) | (asked->phases ? KEEP_PHASES : 0) |
                (asked->walk_data ? KEEP_BLOCK : 0);
    memcpy(run.block, block, sizeof run.block);
    const bool exact = asked->counts || asked->phases || asked->walk_data || asked->locals_seen;
    if (!asked->all_blocks && !exact) run.writers = writers;
    run.limits.block_seconds = asked->run.timeout;
    if (!asked->sized) run.limits.block_seconds_then = usual_block_seconds;
    run.limits.launch_seconds = CHECK_LAUNCH_BLOCKS * asked->run.timeout;
    if (asked->locals_seen)
        run.limits.alone_threads = UINT64_MAX;
    else if ((double)s.m * s.n * s.k <= small)
        run.limits.alone_threads = threads_of_small;
    run.stopped = stopped;
    run.machine_fault = machine_fault;
    if (asked->locals_seen) locals_watch(asked->locals_seen, &asked->locals_change, zeros(s));
    engine_begin(&run);
    outcome->in_wrapper = true;
    run_wrapper(s, A, B, C);
    struct engine_result result;
    engine_end(&result);
    outcome->blocks = result.blocks;
    end_with(&result.finding);
    outcome->in_wrapper = false;
}

// --------------------------------------------------------------- one shape ----------------------

static float *to_device(const struct matrix *matrix) {
    float *device;
    CUDA(cudaMalloc((void **)&device, bytes_of(matrix)));
    CUDA(cudaMemcpy(device, matrix->data, bytes_of(matrix), cudaMemcpyHostToDevice));
    return device;
}

static struct matrix host_matrix(int rows, int cols) {
    struct matrix matrix = matrix_new(rows, cols, 0);
    if (!matrix.buffer) must(cudaErrorMemoryAllocation, "no room for the matrices on the host");
    return matrix;
}

static void unchanged(const struct matrix *sent, const float *device, const char *name) {
    struct matrix returned = host_matrix(sent->rows, sent->cols);
    CUDA(cudaMemcpy(returned.data, device, bytes_of(sent), cudaMemcpyDeviceToHost));
    struct damage damage = matrix_damage(sent, returned.buffer, true);
    matrix_free(&returned);
    if (!damage.elements) return;
    struct finding finding = {FINDING_INPUT_WRITTEN};
    check_file(finding.at.file, sizeof finding.at.file);
    snprintf(finding.what, sizeof finding.what,
             "%llu element%s of %s changed, although it is an input",
             (unsigned long long)damage.elements, damage.elements == 1 ? "" : "s", name);
    snprintf(finding.hint, sizeof finding.hint, "%s", finding_text(FINDING_INPUT_WRITTEN)->hint);
    end_with(&finding);
}

static void judge_result(const struct problem *problem) {
    struct verdict verdict;
    struct finding finding = {};
    if (!verify(problem, VERIFY_FULL, NULL, &verdict))
        must(cudaErrorMemoryAllocation, "no room to compare C");
    if (!judge_verdict(problem, &verdict, &finding)) return;
    struct finding failed;
    engine_forgotten_failure(&failed);
    end_with(&failed);
    check_file(finding.at.file, sizeof finding.at.file);
    finding.at.known = true;
    end_with(&finding);
}

void run_shape(const struct check_options *options, struct shape s, struct outcome *result) {
    const struct options *o = &options->run;
    started = clock_seconds();
    outcome = result;
    outcome->shape = s;
    asked = options;
    struct matrix A = host_matrix(s.m, s.k), B = host_matrix(s.k, s.n), C = host_matrix(s.m, s.n);
    fill_matrix(o->fill, o->seed, MATRIX_A, s.m, s.k, A.data);
    fill_matrix(o->fill, o->seed, MATRIX_B, s.k, s.n, B.data);
    data = {{A.data, B.data}};
    for (int call = 0; call < options->calls; call++) {
        matrix_poison(&C);
        float *A_d = to_device(&A), *B_d = to_device(&B), *C_d = to_device(&C);
        run_watched(s, A_d, B_d, C_d);
        CUDA(cudaMemcpy(C.data, C_d, bytes_of(&C), cudaMemcpyDeviceToHost));
        data.of[SGEMM_C] = C.data;
        outcome->hash_of_c = hash_of(&C, 0xCBF29CE484222325 + outcome->hash_of_c);
        struct problem problem = {
            s.m,    s.n, s.k, A.data, B.data, C.data, fill_comparison(o->fill, s.m, s.n, s.k),
            o->seed};
        judge_result(&problem);
        unchanged(&A, A_d, "A");
        unchanged(&B, B_d, "B");
        struct finding leak;
        engine_leak(&leak);
        end_with(&leak);
        CUDA(cudaFree(A_d));
        CUDA(cudaFree(B_d));
        CUDA(cudaFree(C_d));
    }
    outcome->seconds = clock_seconds() - started;
    report();
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
    outcome->done = true;
}
