/* The watchdog: a parent that waits for a child. The child runs the stages and the wrapper; however
 * it ends, and whatever it may have done to itself, the parent is there to say so. The parent calls
 * nothing of CUDA, which does not survive a fork: it is made before the first such call.
 *
 * They share the report, so that the parent knows the stage, the launches and the times. What the
 * kernel and the wrapper print goes through a pipe to the parent, which passes it on and notes
 * whether a line is open; the report's own lines go to standard output directly. Over a socket the
 * child asks the parent to pass on all that was printed until then, and waits for it. */
#define _GNU_SOURCE /* pipe2 */
#include "../../report/text/numbers.h"
#include "../../report/text/text.h"
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    struct report *report;
    pid_t child; /* in both of them; 0: there is none, this process runs by itself */
    int asked;   /* a socket to the other process; -1: it is closed */
    int printed; /* what the child prints; -1: it is closed */
} watchdog = {.asked = -1, .printed = -1};

/* -- the parent: what the child prints --------------------------------------------------------- */

/* Pass on at most so many bytes of what was printed; how many there were. */
static int pass_on(int most) {
    struct report *report = watchdog.report;
    char bytes[4096];
    const int count = (int)read(watchdog.printed, bytes, min_size((size_t)most, sizeof bytes));
    if (count == 0) watchdog.printed = -1;
    if (count <= 0) return 0;
    if (report->line == LINE_OF_STAGE) fputc('\n', report->out);
    fwrite(bytes, 1, (size_t)count, report->out);
    fflush(report->out);
    report->line = bytes[count - 1] == '\n' ? LINE_START : LINE_OF_KERNEL;
    return count;
}

/* All that was printed until now: a kernel, or a process that the wrapper has left behind, may go
 * on printing. */
static void pass_on_all(void) {
    int left = 0;
    if (watchdog.printed < 0 || ioctl(watchdog.printed, FIONREAD, &left) != 0) return;
    for (int count = 1; left > 0 && count > 0; left -= count) count = pass_on(left);
}

static void answer(void) {
    char request;
    if (recv(watchdog.asked, &request, 1, 0) != 1) {
        watchdog.asked = -1;
        return;
    }
    pass_on_all();
    send(watchdog.asked, &request, 1, MSG_NOSIGNAL);
}

/* On a terminal, in the stage's line, where its time will be: the seconds until now. */
static void show_time(void) {
    const double patience = 2;
    const struct report *report = watchdog.report;
    const double seconds = clock_seconds() - report->stage_start;
    if (seconds < patience || report->line != LINE_OF_STAGE || !isatty(fileno(report->out))) return;
    for (int back = fprintf(report->out, "%5.0f s", seconds); back > 0; back--)
        fputc('\b', report->out);
    fflush(report->out);
}

/* -- the parent: how the child has ended without a result -------------------------------------- */

#define ARE_DEVICE_POINTERS                                                                        \
    "\nThe wrapper's arrays are device pointers: only the kernel may dereference them."
#define NO_RETURN "\nDoes every path through a function that returns a value return one?"

/* What is said of a crash behind the wrapper's name. */
static const struct {
    int signal;
    const char *text;
} crashes[] = {
    {SIGSEGV, "crashed on the host: invalid memory access (SIGSEGV)." ARE_DEVICE_POINTERS},
    {SIGBUS, "crashed on the host: invalid memory access (SIGBUS)." ARE_DEVICE_POINTERS},
    {SIGFPE, "crashed: integer division by zero (SIGFPE)."},
    {SIGILL, "crashed: illegal instruction (SIGILL)." NO_RETURN},
    {SIGTRAP, "crashed: trap (SIGTRAP)." NO_RETURN},
    {SIGABRT, "crashed: aborted (SIGABRT)."},
};

/* Whose fault it is, and in words why; `how` is the status that waitpid() returned. EXIT_PASSED: it
 * was stopped, by Ctrl-C say, and nothing is to be said. */
static enum exit_status ending(const struct report *report, int how, char message[MESSAGE_SIZE]) {
    const int signal = WIFSIGNALED(how) ? WTERMSIG(how) : 0;
    const char *crash = NULL;
    for (int i = 0; i < LENGTH(crashes); i++)
        if (crashes[i].signal == signal) crash = crashes[i].text;
    if (signal == SIGKILL)
        snprintf(message, MESSAGE_SIZE,
                 "the run was killed (SIGKILL): is the machine out of memory?");
    else if (signal && !crash)
        return EXIT_PASSED;
    else if (!report->call_end && crash)
        snprintf(message, MESSAGE_SIZE, "crashed outside of %s: %s", lab.wrapper,
                 strsignal(signal));
    else if (!report->call_end)
        snprintf(message, MESSAGE_SIZE, "ended outside of %s, with exit status %d and no result",
                 lab.wrapper, WEXITSTATUS(how));
    else if (!crash && report->backend_spoke && !report->exit_called && !report->is_cut_off)
        /* The CPU backend exits where a kernel has crashed inside a library function. */
        snprintf(message, MESSAGE_SIZE, "the kernel failed: unspecified launch failure");
    else
        snprintf(message, MESSAGE_SIZE, "%s %s", lab.wrapper,
                 crash                ? crash
                 : report->is_cut_off ? "closed files of this program: close()?"
                                      : "ended the program instead of returning: exit()?");
    return signal == SIGKILL || !report->call_end ? EXIT_MACHINE : EXIT_WRONG;
}

/* -- the parent: when the child ends ----------------------------------------------------------- */

/* Leaves no child behind, which a driver may take its time to end. Not by exit(), which would end
 * kernel.cu's static objects in this process, too. */
static _Noreturn void end_run(enum exit_status status, const char *message) {
    report_ended_early(watchdog.report, status, message);
    waitpid(watchdog.child, NULL, 0);
    _exit(status);
}

static _Noreturn void child_ended(int how) {
    char message[3 * MESSAGE_SIZE] = "";
    pass_on_all();
    if (WIFEXITED(how) && watchdog.report->is_complete) _exit(WEXITSTATUS(how));
    const enum exit_status status = ending(watchdog.report, how, message);
    if (status == EXIT_PASSED) { /* someone's wish: this process ends in the same way */
        signal(WTERMSIG(how), SIG_DFL);
        raise(WTERMSIG(how));
    }
    if (watchdog.report->exit_called && watchdog.report->refused[0])
        APPEND(message, "\n%s", watchdog.report->refused);
    end_run(status, message);
}

static _Noreturn void time_is_over(void) {
    char message[MESSAGE_SIZE] = "";
    kill(watchdog.child, SIGKILL);
    pass_on_all();
    APPEND(message, "%s did not return within %.3g s: does a loop or a barrier never end?",
           lab.wrapper, watchdog.report->call_seconds);
    end_run(EXIT_WRONG, message);
}

/* Until the child prints, asks or ends, and no longer than this. It closes the socket when it ends;
 * but a wrapper may have done so before. */
static void wait_for_child(double seconds) {
    struct pollfd ready[] = {{.fd = watchdog.asked, .events = POLLIN},
                             {.fd = watchdog.printed, .events = POLLIN}};
    const double tick = 2e-3;
    if (watchdog.asked < 0) seconds = fmin(seconds, tick);
    if (poll(ready, LENGTH(ready), 1 + (int)(1e3 * seconds)) <= 0)
        show_time();
    else if (ready[0].revents)
        answer();
    else
        pass_on(INT_MAX);
}

static _Noreturn void watch_child(void) {
    const double longest = 1; /* to show the time each second */
    int status = 0;
    while (waitpid(watchdog.child, &status, WNOHANG) == 0) {
        const double end = watchdog.report->call_end, left = end ? end - clock_seconds() : longest;
        if (left <= 0) time_is_over();
        wait_for_child(fmin(left, longest));
    }
    child_ended(status);
}

/* -- the child --------------------------------------------------------------------------------- */

/* Have all passed on that was printed until now. False: the parent cannot be asked. */
static bool ask(void) {
    char request = 0;
    fflush(stdout);
    if (!watchdog.child) return true;
    return TEMP_FAILURE_RETRY(send(watchdog.asked, &request, 1, MSG_NOSIGNAL)) == 1 &&
           TEMP_FAILURE_RETRY(recv(watchdog.asked, &request, 1, 0)) == 1;
}

/* exit() in the wrapper. Nothing more is run here: a kernel may yet run. */
static void on_exit_called(void) {
    if (getpid() != watchdog.child || !watchdog.report->call_end) return;
    fflush(stdout);
    watchdog.report->exit_called = true;
    _exit(EXIT_WRONG);
}

static void begin_child(pid_t parent) {
    static char stack[64 * 1024];
    const stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    stack_t current;
    struct rlimit core;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_MACHINE); /* it has ended before that */
    if (getrlimit(RLIMIT_CORE, &core) == 0) {
        core.rlim_cur = 0; /* a student's crash leaves no file behind */
        setrlimit(RLIMIT_CORE, &core);
    }
    /* For the CPU backend, whose handler says where the host's code has crashed: the stack may be
     * what overflowed. A sanitizer has one already. */
    if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE))
        sigaltstack(&alternative, NULL);
    atexit(on_exit_called);
}

/* -- both -------------------------------------------------------------------------------------- */

/* Whether this process can be forked: no debugger and no profiler is at it, which may lose the
 * child (Nsight Systems does), and it has one thread. Where a static object of kernel.cu has called
 * CUDA, there are more, and CUDA would not work in the child. */
static bool can_fork(void) {
    char line[200];
    int tracer = 0, threads = 1;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "TracerPid: %d", &tracer) != 1) sscanf(line, "Threads: %d", &threads);
    if (status) fclose(status);
    return !tracer && threads == 1 && !getenv("CUDA_INJECTION64_PATH") &&
           !getenv("NSYS_PROFILING_SESSION_ID");
}

bool watchdog_begin(struct report *report) {
    int asked[2], printed[2];
    const pid_t parent = getpid();
    watchdog.report = report;
    if (!can_fork()) {
        report->options.timeout = 0; /* nor has the CPU backend a limit then */
        return true;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, asked) != 0) return false;
    if (pipe2(printed, O_CLOEXEC) != 0) return false;
    fflush(NULL);
    const pid_t child = fork();
    if (child < 0) return false;
    const bool is_child = child == 0;
    watchdog.child = is_child ? getpid() : child;
    watchdog.asked = asked[is_child];
    close(asked[!is_child]);
    if (is_child && !report->options.json) dup2(printed[1], STDOUT_FILENO);
    close(printed[1]);
    watchdog.printed = printed[0];
    if (!is_child) watch_child();
    close(printed[0]);
    begin_child(parent);
    if (isatty(fileno(report->out))) setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    return true;
}

void watchdog_start(double seconds) {
    struct report *report = watchdog.report;
    report->call_seconds = seconds;
    report->call_end = clock_seconds() + seconds;
    ask();
}

void watchdog_stop(void) {
    struct report *report = watchdog.report;
    if (watchdog.child && watchdog.child != getpid())
        _exit(EXIT_WRONG); /* fork() in the wrapper: one process goes on */
    if (!report->call_end) return;
    if (!ask()) {
        report->is_cut_off = true;
        _exit(EXIT_WRONG);
    }
    report->call_end = 0;
}

void watchdog_end_line(void) {
    ask();
    watchdog.report->backend_spoke = true;
    report_end_line(watchdog.report);
}
