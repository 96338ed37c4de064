/* The processes in which make check runs a wrapper: a mistake may end the one it happens in. */
#ifndef ENGINE_HOST_CHILD_H
#define ENGINE_HOST_CHILD_H
#include "check.h"
#include <sys/types.h>

/* Seconds that a child may take. Kernels have limits of their own, of processor time: the wall
 * clock's is for host code that sleeps, and no busy machine is to reach it. */
struct child_limits {
    double host; /* its host code, of processor time */
    double wall; /* all of it */
};

/* Of a further run of a small shape, of which nothing is heard: it takes some tenths. */
static const struct child_limits short_run = {2, 30};

/* Waits for the child and passes on what it prints into the pipe; kills it beyond its limits.
 * False: it was killed. `status` is waitpid's. */
bool child_wait(pid_t child, int printed, const struct shape *shape,
                const struct child_limits *limits, int *status);

/* Findings begin on a line of their own, whatever a child has printed. */
void child_end_line(void);

/* Forks a child of which nothing is heard, and waits for it. True: this is the child, which is to
 * end with child_end(). */
bool child_quiet(struct shape shape, const struct child_limits *limits);
_Noreturn void child_end(void);

/* A program that is embedded in this one (embedded.S), as a file without a name, which no other
 * program inherits. The caller closes it. -1: it is empty, or no file can be made. */
int child_program(const char *name, const char *begin, const char *end);

#endif
