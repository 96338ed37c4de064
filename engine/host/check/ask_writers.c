/* Starts the program that is embedded here as writers_program, and reads what it says: see
 * writers_program.c. */
#define _GNU_SOURCE
#include "check.h"
#include "child.h"
#include "command.h"
#include "writers_program.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Not linked where the grader looks for causes; empty where the plain build does not compile. */
extern const char writers_program[] __attribute__((weak));
extern const char writers_program_end[] __attribute__((weak));

static const double faster = 0.2; /* than the run under watch */
static const double longest = 5;  /* seconds for a block: an endless one is found under watch */

/* What it prints was printed, or will be, by the run under watch. */
static _Noreturn void become_program(const struct check_options *o, struct shape s, int program,
                                     int out) {
    char *environment[] = {NULL};
    const double seconds = faster * o->run.timeout;
    struct command c = {0};
    command_add(&c, "writers");
    command_add(&c, "%d", o->run.which.fill);
    command_add(&c, "%" PRIu64, o->run.which.seed);
    command_add(&c, "%f", seconds < longest ? seconds : longest);
    command_add(&c, "%d", out);
    command_add_shape(&c, &s);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i <= STDERR_FILENO; i++) dup2(nowhere, i);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    fcntl(out, F_SETFD, 0);
    fexecve(program, command_words(&c), environment);
    _exit(EXIT_MACHINE);
}

static bool run_program(const struct check_options *o, struct shape s, int out) {
    const int program = child_program("writers", writers_program, writers_program_end);
    int status = -1;
    if (program < 0) return false;
    const pid_t child = fork();
    if (child == 0) become_program(o, s, program, out);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    close(program);
    return child > 0 && status == 0;
}

const struct writers *ask_writers(const struct check_options *o, struct shape s, bool *correct) {
    const int out = memfd_create("written", MFD_CLOEXEC);
    if (out < 0) return NULL;
    const bool has_room = ftruncate(out, (off_t)sizeof(struct plain_run)) == 0;
    const struct plain_run *said = mmap(NULL, sizeof *said, PROT_READ, MAP_SHARED, out, 0);
    const bool done = has_room && said != MAP_FAILED && run_program(o, s, out);
    close(out);
    *correct = done && said->correct;
    return done ? &said->writers : NULL;
}
