/* check.c: how long a checked run takes, beside the plain one: ./sgemm-check and ./sgemm on the same
 * sizes, each from start to end of its program.
 *
 *   make bench-check [KERNEL=path] [SHAPES="M K N ..."] */
#define _GNU_SOURCE
#include "harness.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

static char m[12], k[12], n[12]; /* of the size at hand */

/* Runs a program with its output thrown away. */
static void run_program(void *context) {
    char *program = context, *arguments[] = {program, m, k, n, NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&child, program, &actions, NULL, arguments, environ) != 0)
        bench_stop(BENCH_MACHINE, "a program cannot be run: make sgemm sgemm-check builds them");
    posix_spawn_file_actions_destroy(&actions);
    waitpid(child, &status, 0);
    if (status == 0) return;
    fprintf(stderr, "bench: %s %s %s %s failed\n", program, m, k, n);
    exit(BENCH_WRONG);
}

static void compare(struct bench_size size) {
    struct contender all[] = {{"./sgemm", run_program, "./sgemm", {0}},
                              {"./sgemm-check", run_program, "./sgemm-check", {0}}};
    snprintf(m, sizeof m, "%d", size.m);
    snprintf(k, sizeof k, "%d", size.k);
    snprintf(n, sizeof n, "%d", size.n);
    bench_compare(all, 2);
}

int main(int argc, char **argv) {
    bench_each_size(argc, argv, "whole programs", compare);
    return BENCH_OK;
}
