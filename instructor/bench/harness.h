/* What the benchmarks of this folder share: contenders take turns in one process, so that a machine
 * that is busy now and then is unfair to none, and each is printed beside the first.
 *
 * A benchmark is a program with a list of contenders for one product at a time. Sizes come from the
 * command line, three numbers each: M K N. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_MAX_ROUNDS = 25 };
enum bench_status { BENCH_OK, BENCH_WRONG, BENCH_USAGE, BENCH_MACHINE }; /* exit statuses */

struct contender {
    char name[40];
    void (*run)(void *context);
    void *context;
    double seconds[BENCH_MAX_ROUNDS]; /* of each round; written by bench_take_turns */
};

struct bench_size {
    int m, k, n;
};

/* Ends the program with one line on standard error. */
__attribute__((noreturn)) void bench_stop(enum bench_status status, const char *why);

/* malloc that ends the program where there is no memory. The caller frees. */
void *bench_allocate(size_t bytes);

/* The cores that this process may use. */
int bench_cores(void);

/* Calls compare() for each size on the command line, or for 1000 500 700, each below the head of a
 * table: the size and `what`; NULL: without one. Ends the program if one of the words is no size. */
void bench_each_size(int argc, char **argv, const char *what,
                     void (*compare)(struct bench_size size));

/* Each contender once for warming up, then in turns, seven rounds at least and until they have
 * taken six seconds. Progress goes to standard error, on a terminal. Returns the rounds. */
int bench_take_turns(struct contender *all, int count);

double bench_median(const double *values, int count);
double bench_minimum(const double *values, int count);

/* Takes turns and prints the rows of a table: median and minimum in seconds, and the median of the
 * rounds' ratios to the first contender. */
void bench_compare(struct contender *all, int count);

/* rows(context, first, last) for equal shares of 0 .. count - 1, on as many threads as cores. */
void bench_share_rows(void (*rows)(void *context, int first, int last), void *context, int count);

#ifdef __cplusplus
}
#endif
#endif
