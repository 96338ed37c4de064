/* plain: a product by a plain loop, on as many cores as it may use: what the CPU backend stands
 * beside (cpu.py). The loops are in an order that compilers can turn into vector operations.
 *
 *     plain M K N
 *
 * Prints seconds, the median of ROUNDS products. Exit status: 1 C is wrong; 2 bad usage; 3 there is
 * no memory. */
#include "../../engine/cores.h"
#include "../../engine/host/driver/driver.h"
#include "../../engine/host/host.h"
#include "../../engine/report/text/numbers.h"
#include "../../engine/report/text/text.h"
#include "../../lab/sgemm.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 5 };

/* A row of C. */
static void multiply_row(void *context, int worker, size_t row) {
    const struct host_data *data = context;
    const size_t n = (size_t)data->which.shape.of[PARAM_N],
                 k = (size_t)data->which.shape.of[PARAM_K];
    const float *a = (const float *)data->elements[MATRIX_A] + row * k,
                *B = data->elements[MATRIX_B];
    float *restrict c = (float *)data->elements[MATRIX_C] + row * n;
    (void)worker;
    memset(c, 0, n * sizeof *c);
    for (size_t p = 0; p < k; p++)
        for (size_t j = 0; j < n; j++) c[j] += a[p] * B[p * n + j];
}

static double seconds_of_one(struct host_data *data, int workers) {
    struct parallel_job job = {.body = multiply_row, .context = data};
    const double begun = clock_seconds();
    job.count = (size_t)data->which.shape.of[PARAM_M];
    parallel_run(&job, workers);
    return clock_seconds() - begun;
}

int main(int argc, char **argv) {
    static struct verdict verdict; /* large */
    struct lab_case which = {.seed = 1};
    double seconds[ROUNDS];
    if (argc != 4 || lab_shape_read(&lab, argc - 1, argv + 1, &which.shape) != 3) return EXIT_USAGE;
    struct host_data data = data_new(&which, false);
    if (!data.memory) return EXIT_MACHINE;
    for (int i = 0; i < ROUNDS; i++)
        seconds[i] = seconds_of_one(&data, worker_count(MAX_WORKERS, INFINITY));
    qsort(seconds, ROUNDS, sizeof *seconds, compare_doubles);
    if (!truth_verify(&which, (const void *const *)data.elements, &verdict))
        return EXIT_MACHINE;
    printf("%.9f\n", seconds[ROUNDS / 2]);
    return verdict.passed ? EXIT_PASSED : EXIT_WRONG;
}
