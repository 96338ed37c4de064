/* reference.c: how long a student waits for the verdict, beside the plain loop that anyone would
 * write.
 *
 *   make bench-reference
 *   /tmp/bench                                 1000 x 500 x 700
 *   /tmp/bench 1000 500 700  4096 4096 4096    each three numbers: M K N
 *
 * Both compute A B and |A||B| in double precision for all of C and compare. The plain loop runs in
 * i, p, j order, so that compilers can use vectors, on as many threads as there are cores. The two
 * take turns, so that a machine that is busy now and then is unfair to neither; the table shows the
 * median of each, and of the ratios of the pairs.
 */
#define _GNU_SOURCE /* sched_getaffinity */
#include "support.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ROUNDS = 15, MIN_ROUNDS = 3, MAX_THREADS = 64 };
static const double enough_seconds = 3; /* rounds are added until a line has taken so long */
static const double patience = 2;       /* seconds without progress on standard error */

struct plain {
    const struct problem *problem;
    int first, last; /* rows of C */
    uint64_t wrong;
    pthread_t thread;
};

static void *plain_rows(void *argument) {
    struct plain *part = argument;
    const struct problem *p = part->problem;
    size_t n = (size_t)p->n, k = (size_t)p->k;
    double *ref = malloc(n * sizeof *ref), *G = malloc(n * sizeof *G);
    double gamma = gamma_bound((int64_t)p->k + 2);
    for (int i = part->first; ref && G && i < part->last; i++) {
        memset(ref, 0, n * sizeof *ref);
        memset(G, 0, n * sizeof *G);
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
            part->wrong += !(fabs(p->C[(size_t)i * n + j] - ref[j]) <= gamma * G[j]);
    }
    free(ref);
    free(G);
    return NULL;
}

static uint64_t plain_verify(const struct problem *problem, int threads) {
    struct plain part[MAX_THREADS];
    uint64_t wrong = 0;
    for (int t = 0; t < threads; t++) {
        part[t] = (struct plain){.problem = problem};
        part[t].first = (int)((int64_t)problem->m * t / threads);
        part[t].last = (int)((int64_t)problem->m * (t + 1) / threads);
        if (pthread_create(&part[t].thread, NULL, plain_rows, &part[t]) != 0) {
            fputs("bench: no thread to be had\n", stderr);
            exit(EXIT_MACHINE);
        }
    }
    for (int t = 0; t < threads; t++) {
        pthread_join(part[t].thread, NULL);
        wrong += part[t].wrong;
    }
    return wrong;
}

static int cores(void) {
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < MAX_THREADS ? count : MAX_THREADS;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return 0.5 * (values[(count - 1) / 2] + values[count / 2]);
}

static void progress(double begun, int m, int n, int k, const char *what, int round) {
    if (clock_seconds() - begun > patience)
        fprintf(stderr, "\r%d x %d x %d: %s, round %d  ", m, k, n, what, round + 1);
}

/* One line of the table; the matrices are the caller's. */
static void bench(const struct problem *p) {
    double ours[MAX_ROUNDS], plain[MAX_ROUNDS], ratio[MAX_ROUNDS], begun = clock_seconds();
    int rounds = 0, threads = cores();
    struct verdict verdict;
    while (rounds < MAX_ROUNDS &&
           (rounds < MIN_ROUNDS || clock_seconds() - begun < enough_seconds)) {
        progress(begun, p->m, p->n, p->k, "verify", rounds);
        double start = clock_seconds();
        if (!verify(p, VERIFY_FULL, NULL, &verdict)) exit(EXIT_MACHINE);
        double middle = clock_seconds();
        progress(begun, p->m, p->n, p->k, "plain loop", rounds);
        uint64_t wrong = plain_verify(p, threads);
        ours[rounds] = middle - start;
        plain[rounds] = clock_seconds() - middle;
        ratio[rounds] = plain[rounds] / ours[rounds];
        rounds++;
        if (!verdict.passed || wrong) {
            fputs("bench: a correct C was found wrong\n", stderr);
            exit(EXIT_WRONG);
        }
    }
    if (clock_seconds() - begun > patience) fprintf(stderr, "\r%50s\r", "");
    char size[40];
    snprintf(size, sizeof size, "%d x %d x %d", p->m, p->k, p->n);
    printf("%-22s %-9s %7d %10.4f %10.4f %7.2f\n", size, isa_name(reference_isa()), rounds,
           median(ours, rounds), median(plain, rounds), median(ratio, rounds));
    fflush(stdout);
}

/* Matrices for a line, and a C that is right: the reference, rounded. A block of rows at a time. */
static void prepare_and_bench(int m, int n, int k) {
    enum { BLOCK = 64 };
    struct matrix A = matrix_new(m, k, 64), B = matrix_new(k, n, 64), C = matrix_new(m, n, 64);
    double *ref = malloc(BLOCK * (size_t)n * sizeof *ref),
           *G = malloc(BLOCK * (size_t)n * sizeof *G);
    if (!A.buffer || !B.buffer || !C.buffer || !ref || !G) {
        fputs("bench: out of memory\n", stderr);
        exit(EXIT_MACHINE);
    }
    fill_matrix(FILL_RANDOM, 1, MATRIX_A, m, k, A.data);
    fill_matrix(FILL_RANDOM, 1, MATRIX_B, k, n, B.data);
    for (int row = 0; row < m; row += BLOCK) {
        int rows = m - row < BLOCK ? m - row : BLOCK;
        reference(A.data + (size_t)row * (size_t)k, B.data, n, k, NULL, rows, NULL, n, ref, G);
        for (size_t i = 0; i < (size_t)rows * (size_t)n; i++)
            C.data[(size_t)row * (size_t)n + i] = (float)ref[i];
    }
    struct problem problem = {.m = m,
                              .n = n,
                              .k = k,
                              .A = A.data,
                              .B = B.data,
                              .C = C.data,
                              .comparison = COMPARE_FLOAT32,
                              .seed = 1};
    enum isa best = reference_isa();
    for (int isa = best; isa >= 0; isa--) {
        if (reference_set_isa((enum isa)isa)) bench(&problem);
    }
    reference_set_isa(best);
    free(ref);
    free(G);
    matrix_free(&A);
    matrix_free(&B);
    matrix_free(&C);
}

int main(int argc, char **argv) {
    static char *standard[] = {"1000", "500", "700"};
    char **sizes = argc > 1 ? argv + 1 : standard;
    int count = argc > 1 ? argc - 1 : 3;
    if (count % 3 != 0) {
        fputs("bench: give sizes in threes: M K N\n", stderr);
        return EXIT_USAGE;
    }
    printf("Full verification, seconds (median), %d core%s\n\n", cores(), cores() == 1 ? "" : "s");
    printf("%-22s %-9s %7s %10s %10s %7s\n", "m x k x n", "vectors", "rounds", "verify()",
           "plain loop", "ratio");
    for (int i = 0; i < count; i += 3) {
        int m = atoi(sizes[i]), k = atoi(sizes[i + 1]), n = atoi(sizes[i + 2]);
        if (m < 1 || n < 1 || k < 1) {
            fprintf(stderr, "bench: '%s %s %s' are no sizes: give M K N from 1\n", sizes[i],
                    sizes[i + 1], sizes[i + 2]);
            return EXIT_USAGE;
        }
        prepare_and_bench(m, n, k);
    }
    return EXIT_PASSED;
}
