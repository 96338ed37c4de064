/* job.c: starts the worker, and listens to it. */
#define _GNU_SOURCE
#include "ladder.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { LINES_FD = 3, MOST_ARGUMENTS = 512 };

/* The worker: lines on descriptor 3; its output, which is the kernels', on our standard error. */
static pid_t start(const char *worker, const char *const *arguments, int lines) {
    const char *argv[MOST_ARGUMENTS + 3] = {worker, "3"};
    pid_t child;
    for (int i = 0; arguments[i] && i < MOST_ARGUMENTS; i++) argv[2 + i] = arguments[i];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, 2, 1);
    posix_spawn_file_actions_adddup2(&actions, lines, LINES_FD);
    errno = posix_spawn(&child, worker, &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return errno ? -1 : child;
}

/* What has come of a line that is not whole yet. Longer ones lose their end. */
struct pending {
    char text[2 * TEXT_SIZE];
    size_t length;
};

static void give(struct pending *pending, const char *data, ssize_t count,
                 void (*take)(void *context, char *line), void *context) {
    for (ssize_t i = 0; i < count; i++) {
        if (data[i] != '\n') {
            if (pending->length + 1 < sizeof pending->text)
                pending->text[pending->length++] = data[i];
            continue;
        }
        pending->text[pending->length] = '\0';
        pending->length = 0;
        take(context, pending->text);
    }
}

/* Until the worker closes its end. False: it was silent for too long. */
static bool listen_to(int lines, double patience, void (*take)(void *context, char *line),
                      void *context) {
    struct pending pending = {.length = 0};
    char data[4096];
    struct pollfd poll_fd = {.fd = lines, .events = POLLIN};
    for (;;) {
        int ready = poll(&poll_fd, 1, (int)(1e3 * patience));
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0) return false;
        ssize_t count = read(lines, data, sizeof data);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return true;
        give(&pending, data, count, take, context);
    }
}

static struct job_outcome outcome_of(int status, bool silent, double patience) {
    struct job_outcome outcome = {.end = JOB_DONE};
    if (silent) {
        outcome.end = JOB_SILENT;
        snprintf(outcome.text, TEXT_SIZE, "nothing came of it for %g seconds", patience);
    } else if (WIFSIGNALED(status)) {
        outcome.end = JOB_DIED;
        snprintf(outcome.text, TEXT_SIZE, "its process died: %s", strsignal(WTERMSIG(status)));
    } else {
        outcome.status = WEXITSTATUS(status);
        snprintf(outcome.text, TEXT_SIZE, "it ended its process with status %d", outcome.status);
    }
    return outcome;
}

struct job_outcome job_run(const char *worker, const char *const *arguments, double patience,
                           void (*take)(void *context, char *line), void *context) {
    struct job_outcome outcome = {.end = JOB_NOT_STARTED};
    int ends[2], status = 0;
    pid_t child = -1;
    /* Not 3 itself, which dup2() onto itself would leave to be closed. */
    bool piped = pipe2(ends, O_CLOEXEC) == 0;
    int lines = piped ? fcntl(ends[1], F_DUPFD_CLOEXEC, LINES_FD + 1) : -1;
    if (lines >= 0) child = start(worker, arguments, lines);
    if (child < 0) {
        snprintf(outcome.text, TEXT_SIZE, "%s: %s", worker, strerror(errno));
        if (lines >= 0) close(lines);
        if (piped) close(ends[0]), close(ends[1]);
        return outcome;
    }
    close(ends[1]);
    close(lines);
    bool heard = listen_to(ends[0], patience, take, context);
    close(ends[0]);
    if (!heard) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return outcome_of(status, !heard, patience);
}
