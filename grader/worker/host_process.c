/* The process in which the submission's host code runs: see calls.h. */
#define _GNU_SOURCE
#include "calls.h"
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_END, WRITE_END, PIPE_ENDS, DESCRIPTORS = 256 };

static pid_t child;
static int to_host[PIPE_ENDS], to_device[PIPE_ENDS];
static struct worker_report *said; /* by the host's process, which shares this memory */

pid_t host_process_id(void) { return child; }

/* --- the host's process ----------------------------------------------------------------------- */

/* The constructors of kernel.cu's own variables, which compile.sh takes out of the list of what
 * runs before main(). */
extern void (*const __start_kernel_init[])(void) __attribute__((weak));
extern void (*const __stop_kernel_init[])(void) __attribute__((weak));

static void construct(void) {
    for (void (*const *each)(void) = __start_kernel_init; each < __stop_kernel_init; ++each)
        (*each)();
}

static void close_all_but(int one, int other) {
    for (int i = STDERR_FILENO + 1; i < DESCRIPTORS; ++i)
        if (i != one && i != other) close(i);
}

static _Noreturn void host(void (*run)(const struct watched *)) {
    struct watched watched;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close_all_but(to_host[READ_END], to_device[WRITE_END]);
    worker_report_to(said);
    if (!call_receive(to_host[READ_END], &watched, sizeof watched)) _exit(EXIT_WRONG);
    host_calls_begin(to_device[WRITE_END], to_host[READ_END]);
    fault_install();
    worker_write_report(WORKER_IN_WRAPPER);
    /* Both processes would map the same addresses next: a pointer of this one's to the checker's
     * memory. The heap's are others. */
#ifdef M_MMAP_MAX
    mallopt(M_MMAP_MAX, 0);
#endif
    construct();
    run(&watched);
    fflush(stdout);
    worker_write_report(WORKER_RETURNED);
    _exit(EXIT_PASSED);
}

/* --- the device's ----------------------------------------------------------------------------- */

void host_process_start(void (*run)(const struct watched *watched)) {
    said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (said == MAP_FAILED || pipe(to_host) != 0 || pipe(to_device) != 0) _exit(EXIT_MACHINE);
    fflush(stdout);
    child = fork();
    if (child < 0) _exit(EXIT_MACHINE);
    if (child == 0) host(run);
    close(to_host[READ_END]);
    close(to_device[WRITE_END]);
    prctl(PR_SET_DUMPABLE, 0); /* closes /proc/PID/mem and /proc/PID/fd of this process to it */
    signal(SIGPIPE, SIG_IGN);  /* it may end while it is answered */
}

/* As if host code had done it in this process: the grader sees how a worker ends. */
static _Noreturn void end_likewise(int status) {
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_WRONG);
}

struct worker_report host_process_run(const struct watched *watched) {
    int status;
    call_send(to_host[WRITE_END], watched, sizeof *watched);
    while (device_answer(to_device[READ_END], to_host[WRITE_END])) continue;
    close(to_host[WRITE_END]);
    close(to_device[READ_END]);
    while (waitpid(child, &status, 0) != child) continue;
    const struct worker_report report = *said;
    const bool returned = report.state == WORKER_RETURNED && status == 0;
    if (!returned && report.state != WORKER_STOPPED && report.state != WORKER_TIME_LIMIT)
        end_likewise(status);
    return report;
}
