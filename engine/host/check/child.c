/* Running a child and passing on what it prints: see check.h. */
#define _GNU_SOURCE
#include "../../report/text/text.h"
#include "check.h"
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the terminal shows. */
static struct {
    int seconds;    /* the last line is progress: so many; 0: it is not */
    bool open_line; /* a kernel has printed, and no newline at the end */
} shown;

void child_end_line(void) {
    if (shown.open_line) fputc('\n', stdout);
    shown.open_line = false;
}

static void show_progress(const struct shape *shape, int seconds) {
    const int patience = 2;
    if (seconds < patience || shown.open_line || !isatty(STDERR_FILENO)) return;
    if (shown.seconds != seconds)
        fprintf(stderr, "\rchecking %s: %d s", lab_shape_text(&lab, shape).of, seconds);
    shown.seconds = seconds;
}

static void wipe_progress(void) {
    if (shown.seconds) fputs("\r                                                  \r", stderr);
    shown.seconds = 0;
}

/* Passes on what the child has printed; waits some milliseconds for it at most. False: nothing. */
static bool pass_on(int printed) {
    char bytes[4096];
    struct pollfd ready = {.fd = printed, .events = POLLIN};
    const int milliseconds = 2;
    if (poll(&ready, 1, milliseconds) <= 0 || !(ready.revents & POLLIN)) return false;
    ssize_t count = read(printed, bytes, sizeof bytes);
    if (count <= 0) return false;
    wipe_progress();
    fwrite(bytes, 1, (size_t)count, stdout);
    fflush(stdout);
    shown.open_line = bytes[count - 1] != '\n';
    return true;
}

/* Processor time that the child's host code has taken: that of its first thread, which waits while
 * kernels run. Where the system does not say: any number of seconds. */
static double host_seconds(pid_t child) {
    char path[64];
    double nanoseconds = INFINITY;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)child, (int)child);
    FILE *file = fopen(path, "re");
    if (file && fscanf(file, "%lf", &nanoseconds) != 1) nanoseconds = INFINITY;
    if (file) fclose(file);
    return nanoseconds * 1e-9;
}

bool child_wait(pid_t child, int printed, const struct shape *shape,
                const struct child_limits *limits, int *status) {
    const struct timespec tick = {.tv_nsec = 2000 * 1000};
    double start = clock_seconds(), seconds = 0;
    bool in_time = true;
    while (in_time && waitpid(child, status, WNOHANG) == 0) {
        seconds = clock_seconds() - start;
        in_time = seconds < limits->host ||
                  (host_seconds(child) < limits->host && seconds < limits->wall);
        show_progress(shape, (int)seconds);
        if (!pass_on(printed)) nanosleep(&tick, NULL);
    }
    if (!in_time) {
        kill(child, SIGKILL);
        waitpid(child, status, 0);
    }
    while (pass_on(printed)) continue;
    wipe_progress();
    return in_time;
}

bool child_quiet(struct shape shape, const struct child_limits *limits) {
    int status, printed[2];
    fflush(NULL);
    if (pipe2(printed, O_CLOEXEC) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int i = 0; i <= STDERR_FILENO; i++) dup2(nowhere, i);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        return true;
    }
    close(printed[1]);
    if (child > 0) child_wait(child, printed[0], &shape, limits, &status);
    close(printed[0]);
    return false;
}

static void (*exits_by)(void);

static void on_exit_called(void) {
    void (*function)(void) = exits_by;
    exits_by = NULL;
    if (function) function();
}

static void on_abort(int number) {
    (void)number;
    on_exit_called();
}

void child_exits_by(void (*function)(void)) {
    static char handlers[1024 * 1024]; /* a wrapper that calls itself without end fills the stack */
    const stack_t stack = {.ss_sp = handlers, .ss_size = sizeof handlers};
    const struct sigaction action = {.sa_handler = on_abort};
    exits_by = function;
    if (!function) return;
    sigaltstack(&stack, NULL);
    atexit(on_exit_called);
    at_quick_exit(on_exit_called);
    sigaction(SIGABRT, &action, NULL);
}

void child_end(void) {
    fflush(NULL);
    _exit(EXIT_PASSED);
}
