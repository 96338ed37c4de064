/* reference.c: how long the verdict takes, beside a plain loop.
 *
 *   make bench-reference [SHAPES="M K N ..."]
 *
 * Both compute A B and |A||B| in double precision for all of C and compare: verify() with each set
 * of vector instructions that this processor has, and a loop in i, p, j order, so that compilers
 * can use vectors, on as many threads as there are cores. */
#include "../../lab/verify.h"
#include "../../support.h"
#include "harness.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct problem problem;
static atomic_ullong wrong; /* elements, and verdicts, of a C that is right */

static void plain_rows(void *context, int first, int last) {
    const struct problem *p = context;
    size_t n = (size_t)p->n, k = (size_t)p->k;
    double *ref = bench_allocate(2 * n * sizeof *ref), *G = ref + n;
    double gamma = gamma_bound((int64_t)p->k + 2);
    for (int i = first; i < last; i++) {
        memset(ref, 0, 2 * n * sizeof *ref);
        for (size_t q = 0; q < k; q++) {
            double a = p->A[(size_t)i * k + q];
            const float *b = p->B + q * n;
            for (size_t j = 0; j < n; j++) {
                double term = a * b[j];
                ref[j] += term;
                G[j] += fabs(term);
            }
        }
        for (size_t j = 0; j < n; j++)
            wrong += !(fabs(p->C[(size_t)i * n + j] - ref[j]) <= gamma * G[j]);
    }
    free(ref);
}

static void run_plain(void *context) { bench_share_rows(plain_rows, context, problem.m); }

static void run_verify(void *context) {
    struct verdict verdict;
    reference_set_isa(*(const enum isa *)context);
    if (!verify(&problem, VERIFY_FULL, NULL, &verdict)) bench_stop(BENCH_MACHINE, "out of memory");
    wrong += !verdict.passed;
}

/* A C that is right: the reference, rounded. A block of rows at a time. */
static void multiply(const struct problem *p, float *C) {
    enum { BLOCK = 64 };
    double *ref = bench_allocate(2 * BLOCK * (size_t)p->n * sizeof *ref);
    for (int row = 0; row < p->m; row += BLOCK) {
        int rows = p->m - row < BLOCK ? p->m - row : BLOCK;
        reference(p->A + (size_t)row * (size_t)p->k, p->B, p->n, p->k, NULL, rows, NULL, p->n, ref,
                  ref + BLOCK * (size_t)p->n);
        for (size_t i = 0; i < (size_t)rows * (size_t)p->n; i++)
            C[(size_t)row * (size_t)p->n + i] = (float)ref[i];
    }
    free(ref);
}

static void compare(struct bench_size size) {
    static const enum isa isas[ISA_COUNT] = {ISA_BASELINE, ISA_AVX2, ISA_AVX512};
    const int m = size.m, n = size.n, k = size.k;
    const struct lab_case which = {.shape = {{m, n, k}}, .seed = 1};
    struct host_data data = data_new(&which, false);
    struct contender all[1 + ISA_COUNT];
    int count = 0;
    if (!data.memory) bench_stop(BENCH_MACHINE, "out of memory");
    float *C = data.elements[MATRIX_C];
    problem = (struct problem){
        m, n, k, data.elements[MATRIX_A], data.elements[MATRIX_B], C, COMPARE_FLOAT32, 1};
    multiply(&problem, C);
    all[count++] = (struct contender){"plain loop", run_plain, &problem, {0}};
    for (int i = ISA_COUNT - 1; i >= 0; i--) {
        if (!reference_set_isa(isas[i])) continue;
        all[count] = (struct contender){"", run_verify, (void *)&isas[i], {0}};
        snprintf(all[count].name, sizeof all[count].name, "verify, %s", isa_name(isas[i]));
        count++;
    }
    bench_compare(all, count);
    data_free(&data);
}

int main(int argc, char **argv) {
    char cores[20];
    snprintf(cores, sizeof cores, "%d core(s)", bench_cores());
    bench_each_size(argc, argv, cores, compare);
    if (wrong) bench_stop(BENCH_WRONG, "a C that is right was found wrong");
    return BENCH_OK;
}
