/* Runs basicSgemm of the plain build once, as check_run.cu does with the checked one, and says
 * which blocks of its launches write to device memory. sgemm-check has this program in it
 * (embedded.S), and asks it where a launch has more blocks than can be watched in a moment.
 *
 *     writers M N K FILL SEED SECONDS OUT
 *
 * FILL is a number of support.h, SECONDS of processor time are what a block may take, and OUT is an
 * open descriptor of a file of the size of struct writers. Exit status 0: that says something. */
#include "../cuda/runtime/runtime.h"
#include "check.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* In kernel.cu, which is C++. */
void basicSgemm(int m, int n, int k, const float *A, const float *B,
                float *C) __asm__("_Z10basicSgemmiiiPKfS0_Pf");

static void must(bool done) {
    if (!done) _exit(EXIT_MACHINE);
}

static float *to_device(const struct matrix *matrix) {
    const size_t bytes = (size_t)matrix->rows * (size_t)matrix->cols * sizeof(float);
    float *device;
    must(cudaMalloc((void **)&device, bytes) == cudaSuccess);
    must(cudaMemcpy(device, matrix->data, bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    return device;
}

static struct matrix host_matrix(int rows, int cols) {
    struct matrix matrix = matrix_new(rows, cols, 0);
    must(matrix.buffer != NULL);
    return matrix;
}

static void limit_time(double block_seconds) {
    const struct time_limits limits = {.block_seconds = block_seconds,
                                       .seconds = CHECK_LAUNCH_BLOCKS * block_seconds,
                                       .processor_time = true};
    launch_limit_time(&limits);
    alarm((unsigned)(10 * limits.seconds) + 1); /* a wrapper that does not return */
}

int main(int argc, char **argv) {
    if (argc != 8) return EXIT_USAGE;
    const int m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]);
    const enum fill fill = (enum fill)atoi(argv[4]);
    const uint64_t seed = strtoull(argv[5], NULL, 10);
    struct writers *writers =
        mmap(NULL, sizeof *writers, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[7]), 0);
    must(writers != MAP_FAILED);

    struct matrix A = host_matrix(m, k), B = host_matrix(k, n), C = host_matrix(m, n);
    fill_matrix(fill, seed, MATRIX_A, m, k, A.data);
    fill_matrix(fill, seed, MATRIX_B, k, n, B.data);
    matrix_poison(&C);
    float *A_d = to_device(&A), *B_d = to_device(&B), *C_d = to_device(&C);

    launch_limit_workers(1); /* of whose blocks it is known which one writes */
    limit_time(strtod(argv[6], NULL));
    writers->sample = seed;
    writers_note(writers);
    basicSgemm(m, n, k, A_d, B_d, C_d);
    _exit(cudaDeviceSynchronize() == cudaSuccess ? EXIT_PASSED : EXIT_WRONG);
}
