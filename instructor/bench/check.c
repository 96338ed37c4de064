/* How long a checked run takes, beside the plain one: ./sgemm-check and ./sgemm on the same sizes,
 * alternating in one run.
 *
 *     bench-check RUNS M K N [M K N ...]
 *
 * Prints the median and the range of the seconds from start to end of each program, and their
 * ratio. Exit status: 0; 1 if a program found something wrong; 3 if one could not be run. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

enum { CHECKED, PLAIN, PROGRAMS, MOST_RUNS = 100 };
static char *const programs[PROGRAMS] = {"./sgemm-check", "./sgemm"};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds that a program takes on the three sizes, its output thrown away. */
static double run(char *program, char **sizes) {
    char *arguments[] = {program, sizes[0], sizes[1], sizes[2], NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    double start = now();
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&child, program, &actions, NULL, arguments, environ) != 0) {
        fprintf(stderr, "%s: cannot be run; build it with make and make sgemm-check\n", program);
        exit(3);
    }
    posix_spawn_file_actions_destroy(&actions);
    waitpid(child, &status, 0);
    if (status != 0) {
        fprintf(stderr, "%s %s %s %s failed\n", program, sizes[0], sizes[1], sizes[2]);
        exit(1);
    }
    return now() - start;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(int runs, char **sizes) {
    double seconds[PROGRAMS][MOST_RUNS], median[PROGRAMS];
    for (int i = 0; i < runs; i++)
        for (int p = 0; p < PROGRAMS; p++) seconds[p][i] = run(programs[p], sizes);
    for (int p = 0; p < PROGRAMS; p++) {
        qsort(seconds[p], (size_t)runs, sizeof(double), ascending);
        median[p] = 0.5 * (seconds[p][(runs - 1) / 2] + seconds[p][runs / 2]);
    }
    printf("%5s %5s %5s   %8.3f (%.3f to %.3f) %8.3f (%.3f to %.3f) %6.1f\n", sizes[0], sizes[1],
           sizes[2], median[CHECKED], seconds[CHECKED][0], seconds[CHECKED][runs - 1],
           median[PLAIN], seconds[PLAIN][0], seconds[PLAIN][runs - 1],
           median[CHECKED] / median[PLAIN]);
    fflush(stdout);
}

int main(int argc, char **argv) {
    int runs = argc > 1 ? atoi(argv[1]) : 0;
    if (runs < 1 || runs > MOST_RUNS || argc < 5 || (argc - 2) % 3 != 0) {
        fprintf(stderr, "usage: bench-check RUNS M K N [M K N ...]   (up to %d runs)\n", MOST_RUNS);
        return 2;
    }
    printf("    m     k     n   checked, s                plain, s                  ratio\n");
    for (int i = 2; i < argc; i += 3) measure(runs, argv + i);
    return 0;
}
