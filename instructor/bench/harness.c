#include "harness.h"
#include "../../engine/cores.h"
#include "../../engine/report/text/numbers.h"
#include "../../lab/verify.h"
#include "../../support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MIN_ROUNDS = 7, MAX_SIZE = 30000 };
static const double enough_seconds = 6;   /* rounds are added until they have taken so long */
static const double patience_seconds = 2; /* before progress is shown */

void bench_stop(enum bench_status status, const char *why) {
    fflush(stdout);
    fprintf(stderr, "bench: %s\n", why);
    exit(status);
}

void *bench_allocate(size_t bytes) {
    void *memory = malloc(bytes);
    if (!memory) bench_stop(BENCH_MACHINE, "out of memory");
    return memory;
}

int bench_cores(void) { return worker_count(MAX_WORKERS, INFINITY); }

/* --- sizes ------------------------------------------------------------------------------------ */

static int size_from(const char *text) {
    char *end;
    long value = strtol(text, &end, 10);
    if (end != text && !*end && value >= 1 && value <= MAX_SIZE) return (int)value;
    fprintf(stderr, "bench: '%s' is not a size: give M K N, each from 1 to %d\n", text, MAX_SIZE);
    exit(BENCH_USAGE);
}

static void print_head(struct bench_size size, const char *what) {
    char title[80];
    snprintf(title, sizeof title, "%d x %d x %d (m k n), %s", size.m, size.k, size.n, what);
    printf("%-42s %10s %10s %8s\n", title, "median, s", "minimum, s", "ratio");
}

void bench_each_size(int argc, char **argv, const char *what,
                     void (*compare)(struct bench_size size)) {
    static char *standard[] = {"1000", "500", "700"};
    char **words = argc > 1 ? argv + 1 : standard;
    int count = argc > 1 ? argc - 1 : 3;
    if (count % 3 != 0) bench_stop(BENCH_USAGE, "give sizes in threes: M K N");
    for (int i = 0; i < count; i++) size_from(words[i]); /* before any is measured */
    for (int i = 0; i < count; i += 3) {
        struct bench_size size = {size_from(words[i]), size_from(words[i + 1]),
                                  size_from(words[i + 2])};
        if (what) print_head(size, what);
        compare(size);
    }
}

/* --- turns ------------------------------------------------------------------------------------ */

static double timed(const struct contender *who) {
    double begun = clock_seconds();
    who->run(who->context);
    return clock_seconds() - begun;
}

int bench_take_turns(struct contender *all, int count) {
    double begun = clock_seconds(), rounds_begun;
    bool terminal = isatty(STDERR_FILENO);
    int rounds = 0;
    for (int i = 0; i < count; i++) all[i].run(all[i].context);
    for (rounds_begun = clock_seconds(); rounds < BENCH_MAX_ROUNDS; rounds++) {
        if (rounds >= MIN_ROUNDS && clock_seconds() - rounds_begun > enough_seconds) break;
        for (int i = 0; i < count; i++) {
            if (terminal && clock_seconds() - begun > patience_seconds)
                fprintf(stderr, "\r%-40s round %d ", all[i].name, rounds + 1);
            all[i].seconds[rounds] = timed(&all[i]);
        }
    }
    if (terminal && clock_seconds() - begun > patience_seconds) fprintf(stderr, "\r%60s\r", "");
    return rounds;
}

/* --- statistics ------------------------------------------------------------------------------- */

double bench_median(const double *values, int count) {
    double sorted[BENCH_MAX_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
    return 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

double bench_minimum(const double *values, int count) {
    double least = values[0];
    for (int i = 1; i < count; i++) least = values[i] < least ? values[i] : least;
    return least;
}

void bench_compare(struct contender *all, int count) {
    int rounds = bench_take_turns(all, count);
    for (int i = 0; i < count; i++) {
        double ratios[BENCH_MAX_ROUNDS];
        for (int r = 0; r < rounds; r++) ratios[r] = all[i].seconds[r] / all[0].seconds[r];
        printf("  %-40s %10.4f %10.4f %8.2f\n", all[i].name, bench_median(all[i].seconds, rounds),
               bench_minimum(all[i].seconds, rounds), bench_median(ratios, rounds));
    }
    fflush(stdout);
}

/* --- threads ---------------------------------------------------------------------------------- */

struct shares {
    void (*rows)(void *context, int first, int last);
    void *context;
    long long count;
    int threads;
};

static void run_share(void *context, int worker, size_t index) {
    const struct shares *all = context;
    long long share = (long long)index;
    (void)worker;
    all->rows(all->context, (int)(all->count * share / all->threads),
              (int)(all->count * (share + 1) / all->threads));
}

void bench_share_rows(void (*rows)(void *context, int first, int last), void *context, int count) {
    struct shares all = {rows, context, count, bench_cores()};
    struct parallel_job job = {.body = run_share, .context = &all, .count = (size_t)all.threads};
    parallel_run(&job, all.threads);
}
