// watched.cu: the process that compute-sanitizer watches.
//
// Runs the wrapper on each shape and looks at no result: C has to be as cudaMalloc leaves it, or
// initcheck would take it for initialised. What the sanitizer cannot know goes into a file that the
// starting process maps as well (sanitizer.h): which address is whose, which shape runs. The linker
// sends the wrapper's calls of a few functions here first (--wrap, in the Makefile).
#include <cuda_runtime.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include "sanitizer.h"
#include "watched.h"

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C);

static struct watched nowhere, *state = &nowhere;

// ------------------------------------------------------------- the wrapper's calls --------------

extern "C" {
cudaError_t __real_cudaMalloc(void **pointer, size_t bytes);
cudaError_t __real_cudaFree(void *pointer);
cudaError_t __real___cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                              void *stream);

cudaError_t __wrap_cudaMalloc(void **pointer, size_t bytes) {
    cudaError_t error = __real_cudaMalloc(pointer, bytes);
    if (error == cudaSuccess && state->block_count < GPU_BLOCKS) {
        struct gpu_block block = {(uint64_t)*pointer, bytes, state->shape, 0, false};
        state->blocks[state->block_count++] = block;
    }
    return error;
}

cudaError_t __wrap_cudaFree(void *pointer) {
    cudaError_t error = __real_cudaFree(pointer);
    for (int i = 0; i < state->block_count && error == cudaSuccess; i++)
        if (state->blocks[i].begin == (uint64_t)pointer) state->blocks[i].freed = true;
    return error;
}

// Each launch asks once for what stood in its <<<>>>.
cudaError_t __wrap___cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                              void *stream) {
    cudaError_t error = __real___cudaPopCallConfiguration(grid, block, shared, stream);
    struct gpu_launch launch = {
        {grid->x, grid->y, grid->z}, {block->x, block->y, block->z}, *shared, state->shape};
    state->launches[state->launch_count < GPU_LAUNCHES ? state->launch_count : GPU_LAUNCHES - 1] =
        launch;
    state->launch_count++;
    return error;
}
}

int watched_launches(void) { return state->launch_count; }

// ------------------------------------------------------------- a crash of the wrapper -----------

static bool *in_wrapper;
static void (*crash_ends)(const struct finding *finding);

static bool find_element(const void *address, const struct shape *shape, struct finding *f) {
    for (int i = 0; i < state->block_count; i++) {
        const struct gpu_block *b = &state->blocks[i];
        uint64_t offset = (uint64_t)address - b->begin;
        if (b->freed || (uint64_t)address < b->begin || offset >= b->bytes) continue;
        long cols = b->matrix == 'A' ? shape->k : shape->n;
        if (b->matrix) {
            snprintf(f->variable, sizeof f->variable, "%c", b->matrix);
            snprintf(f->element, sizeof f->element, "%c[%ld][%ld]", b->matrix,
                     (long)(offset / 4) / cols, (long)(offset / 4) % cols);
        }
        return true;
    }
    return false;
}

static const char *access_of(void *context) {
#ifdef __x86_64__
    const long long write = 2; // in the page fault's error code
    return ((ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & write ? "write" : "read";
#else
    return context ? "" : "";
#endif
}

static struct shape current;

static void crashed(int number, siginfo_t *info, void *context) {
    static volatile sig_atomic_t again;
    if (again || !in_wrapper || !*in_wrapper) {
        signal(number, SIG_DFL);
        return;
    }
    again = 1;
    struct finding f = {};
    void *frames[32];
    f.kind = FINDING_HOST_FAULT;
    watched_place(frames, backtrace(frames, 32), &f.at);
    if (number == SIGSEGV && find_element(info->si_addr, &current, &f)) {
        f.kind = FINDING_DEVICE_POINTER_ON_HOST;
        snprintf(f.at.access, sizeof f.at.access, "%s", access_of(context));
        snprintf(f.what, sizeof f.what, "host code follows a device pointer");
        snprintf(f.detail, sizeof f.detail, "it %s %s, which lies in the GPU's memory",
                 f.at.access[0] == 'w' ? "writes" : "reads",
                 f.element[0] ? f.element : "an address");
        snprintf(f.hint, sizeof f.hint,
                 "only kernels and cudaMemcpy can reach what A, B and C point to");
    } else {
        snprintf(f.what, sizeof f.what, "basicSgemm crashed: %s", strsignal(number));
    }
    crash_ends(&f);
    _exit(EXIT_WRONG);
}

void watched_crashes(struct shape shape, bool *inside, void (*end)(const struct finding *)) {
    static char stack[1 << 16];
    stack_t other = {};
    struct sigaction action = {};
    void *frame;
    backtrace(&frame, 1); // loads what it needs now, and not in the handler
    current = shape;
    in_wrapper = inside;
    crash_ends = end;
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, NULL);
    action.sa_sigaction = crashed;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL};
    for (int number : signals) sigaction(number, &action, NULL);
}

void watched_matrices(const float *A, const float *B, const float *C) {
    const float *const matrices[] = {A, B, C};
    for (int i = 0; i < state->block_count; i++)
        for (int j = 0; j < 3; j++)
            if (state->blocks[i].begin == (uint64_t)matrices[j] && !state->blocks[i].freed)
                state->blocks[i].matrix = "ABC"[j];
}

// ------------------------------------------------------------- all shapes -----------------------

static int sanitizer_says; // where the sanitizer writes to

static void must(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return;
    snprintf(state->machine_fault, sizeof state->machine_fault, "%s failed: %s", what,
             cudaGetErrorString(error));
    _exit(EXIT_MACHINE);
}

static float *input(const struct options *o, enum matrix_name which, int rows, int cols) {
    struct matrix matrix = matrix_new(rows, cols, 0);
    size_t bytes = (size_t)rows * (size_t)cols * sizeof(float);
    float *device;
    if (!matrix.buffer) must(cudaErrorMemoryAllocation, "memory for a matrix on the host");
    fill_matrix(o->fill, o->seed, which, rows, cols, matrix.data);
    must(cudaMalloc((void **)&device, bytes), "cudaMalloc");
    must(cudaMemcpy(device, matrix.data, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    matrix_free(&matrix);
    return device;
}

static off_t size_of_log(void) {
    struct stat status;
    return fstat(sanitizer_says, &status) == 0 ? status.st_size : 0;
}

static void copy_maps(const char *directory) {
    char path[600], text[4096];
    snprintf(path, sizeof path, "%s/" WATCHED_MAPS, directory);
    FILE *from = fopen("/proc/self/maps", "r"), *to = fopen(path, "w");
    for (size_t bytes; from && to && (bytes = fread(text, 1, sizeof text, from));)
        fwrite(text, 1, bytes, to);
    if (from) fclose(from);
    if (to) fclose(to);
}

static void keep_crash(const struct finding *finding) { state->crash = *finding; }

// One shape. False: the GPU takes no more launches. Where the sanitizer has something to say, the
// matrices stay, so that their addresses keep their names.
static bool watch_shape(const struct options *o, struct shape s) {
    float *C, *A = input(o, MATRIX_A, s.m, s.k), *B = input(o, MATRIX_B, s.k, s.n);
    must(cudaMalloc((void **)&C, (size_t)s.m * (size_t)s.n * sizeof(float)), "cudaMalloc");
    watched_matrices(A, B, C);
    watched_crashes(s, &state->in_wrapper, keep_crash);
    state->started = true;
    off_t before = size_of_log();
    state->began = clock_seconds();
    state->in_wrapper = true;
    basicSgemm(s.m, s.n, s.k, A, B, C);
    cudaError_t error = cudaPeekAtLastError(), ran = cudaDeviceSynchronize();
    state->in_wrapper = false;
    if (error == cudaSuccess) error = ran;
    if (error != cudaSuccess)
        snprintf(state->pending, sizeof state->pending, "%s", cudaGetErrorName(error));
    if (error != cudaSuccess) return false;
    if (size_of_log() != before) return true;
    cudaFree(A);
    cudaFree(B);
    cudaFree(C);
    return true;
}

// Standard output stays the sanitizer's alone; what the wrapper and its kernels print is shown when
// they run without it.
static void give_up_output(void) {
    int nothing = open("/dev/null", O_RDWR);
    sanitizer_says = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
}

static bool map_state(const char *directory) {
    char path[600];
    snprintf(path, sizeof path, "%s/" WATCHED_STATE, directory);
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *memory = MAP_FAILED;
    if (file >= 0) memory = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) return false;
    state = (struct watched *)memory;
    return true;
}

static int run_watched(const struct check_options *options, const char *directory) {
    struct finding_party party = {};
    void *code = (void *)basicSgemm;
    prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with the sanitizer
    if (!map_state(directory)) return EXIT_MACHINE;
    give_up_output();
    watched_place(&code, 1, &party);
    snprintf(state->file, sizeof state->file, "%s", party.file);
    state->pid = getpid();
    bool good = true;
    for (int i = 0; i < options->shape_count && good; i++) {
        state->shape = i;
        dprintf(sanitizer_says, "@ shape %d\n", i);
        good = watch_shape(&options->run, options->shapes[i]);
    }
    copy_maps(directory);
    if (good) cudaDeviceReset(); // which makes memcheck look for what was not freed
    state->ended = true;
    return EXIT_PASSED;
}

int (*const check_watched)(const struct check_options *, const char *) = run_watched;
