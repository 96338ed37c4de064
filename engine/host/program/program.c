/* A program with its own main(), under watch from before main() to its end.
 *
 * Before main() the process forks. The child becomes the program: it keeps arguments, standard
 * input and output, and is watched. Its parent waits for it, however it ends, and says what was
 * found: on standard error, or as JSON on standard output. So a program may call exit() or abort(),
 * crash, or run without end, and print what it likes.
 *
 * From the environment: ENGINE_JSON=1, ENGINE_FIRST=1, ENGINE_TIMEOUT=seconds. */
#define _GNU_SOURCE
#include "program.h"
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double usual_seconds = 60; /* for the host's code, and for a block */
static const double launch_blocks = 10; /* a launch may take as long as so many blocks */
static const uint64_t alone_threads = 1
                                      << 16; /* so few run in order, and show the same each time */
static const unsigned grace_seconds = 10;    /* for saying where, when the program is stopped */

static struct program_run *run;
static pid_t program; /* the process that is watched; 0: not yet */

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

/* --- the program's process -------------------------------------------------------------------- */

static void end_at_once(int status) { syscall(SYS_exit_group, status); }

/* Completes the run. Processes that the program has made are not watched. */
static void finish(void) {
    static bool begun;
    if (getpid() != program || __atomic_exchange_n(&begun, true, __ATOMIC_SEQ_CST)) return;
    struct engine_result result;
    engine_end(&result);
    run->launches = result.launches;
    run->count = engine_findings(run->findings, PROGRAM_FINDINGS);
    if (!run->count) {
        engine_leak(&run->findings[0]);
        run->is_leak = run->findings[0].kind != FINDING_NONE;
        run->count = run->is_leak;
    }
    run->ended = true;
}

static void stopped(const struct engine_result *result) {
    (void)result;
    finish();
    fflush(NULL);
    end_at_once(EXIT_FAILURE);
    abort(); /* not reached */
}

static void machine_fault(const char *what) {
    snprintf(run->machine_fault, sizeof run->machine_fault, "%s", what);
    end_at_once(EXIT_BAD_MACHINE);
    abort(); /* not reached */
}

/* The C library's own exit() ends the process without this one. */
void _exit(int status) {
    finish();
    end_at_once(status);
    abort(); /* not reached */
}

void _Exit(int status) { _exit(status); }

static void set_stops(void (*handler)(int)) {
    static const int stops[] = {SIGABRT, SIGINT, SIGTERM, SIGHUP, SIGXCPU};
    const struct sigaction action = {.sa_handler = handler};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) sigaction(stops[i], &action, NULL);
}

/* The program is being stopped: by itself, by the user, or by its limit. What is done here is not
 * safe in a handler; where it does not end, the alarm ends the process. */
static void on_stop(int number) {
    set_stops(SIG_IGN); /* a second one would end this */
    signal(SIGALRM, SIG_DFL);
    alarm(grace_seconds);
    finish();
    fflush(stdout);
    signal(number, SIG_DFL);
    raise(number);
}

static void stop_after(double seconds) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGXCPU};
    struct itimerspec after = {.it_value = {(time_t)seconds, 1}};
    timer_t timer;
    /* Of this thread, which waits while kernels run. */
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0)
        timer_settime(timer, 0, &after, NULL);
}

static void begin(double seconds) {
    set_stops(on_stop);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    program = getpid();
    atexit(finish);
    at_quick_exit(finish);
    stop_after(seconds);
    const struct engine_run watched = {.all_findings = !is_set("ENGINE_FIRST"),
                                       .limits = {.block_seconds = seconds,
                                                  .launch_seconds = launch_blocks * seconds,
                                                  .alone_threads = alone_threads},
                                       .stopped = stopped,
                                       .machine_fault = machine_fault};
    engine_begin(&watched);
}

/* --- the process that waits ------------------------------------------------------------------- */

static pid_t child;

/* What stops this process is for the program; a terminal's ctrl-C it has had already. */
static void pass_on(int number) {
    if (number != SIGINT) kill(child, number);
}

static double clock_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct program_end wait_for_program(void) {
    const struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    struct program_end end = {.status = 0};
    const double begun = clock_seconds();
    int status = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    end.seconds = clock_seconds() - begun;
    if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
    if (WIFEXITED(status)) end.status = WEXITSTATUS(status);
    return end;
}

static void usage(const char *message, const char *value) {
    fprintf(stderr, message, value);
    end_at_once(EXIT_BAD_USAGE);
}

static double timeout(void) {
    const char *text = getenv("ENGINE_TIMEOUT");
    if (!text || !*text) return usual_seconds;
    char *end;
    const double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0 && seconds <= INT_MAX))
        usage("TIMEOUT=%s: it is a number of seconds above 0\n", text);
    return seconds;
}

static void no_machine(const char *what) {
    perror(what);
    end_at_once(EXIT_BAD_MACHINE);
}

/* Behind the runtime's own constructors, before the program's. */
__attribute__((constructor(200))) static void start(void) {
    const double seconds = timeout();
    run = mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run == MAP_FAILED) no_machine("out of memory");
    child = fork();
    if (child < 0) no_machine("no further process can be started");
    if (child == 0) {
        if (is_set("ENGINE_JSON")) dup2(STDERR_FILENO, STDOUT_FILENO);
        begin(seconds);
        return;
    }
    const struct program_end end = wait_for_program();
    (is_set("ENGINE_JSON") ? program_print_json : program_print)(run, &end);
    fflush(NULL);
    end_at_once(program_exit_status(run, &end));
}
