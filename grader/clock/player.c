/* The player, see recording.h: the clock's side first, the player's below. */
#define _GNU_SOURCE
#include "../../engine/host/driver/driver.h"
#include "../../engine/report/text/text.h"
#include "recording.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds for everything but the submission's runs: starting CUDA, copies. Some are slow. */
static const double own_limit = 120;

/* Small enough for one datagram: it comes whole or not at all. */
struct answer {
    uint32_t fine;
    uint32_t state; /* and reason, unless fine */
    struct times times;
    char reason[REASON_SIZE];
};

struct player {
    pid_t process;
    int socket;
    void *arrays[LAB_ARRAYS]; /* in memory that both see */
    double seconds_left;
};

/* It stays until the process ends. */
static bool share_memory(struct player *p, const struct recording *recording) {
    for (int i = 0; i < lab_arrays(&lab); i++) {
        p->arrays[i] = mmap(NULL, (size_t)recording->bytes[i] + 1, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (p->arrays[i] == MAP_FAILED) return false;
    }
    return true;
}

void *player_array(struct player *p, int array) { return p->arrays[array]; }

/* Its end of the socket is closed, so it should be ending. */
static int status_of_end(struct player *p) {
    int status = 0;
    for (int patience = 1000; waitpid(p->process, &status, WNOHANG) == 0; patience--) {
        if (!patience) return SIGABRT; /* player_free() ends it */
        usleep(1000);
    }
    p->process = 0;
    return status;
}

/* The player's process is gone. Killed: this machine ran out of something. */
static bool judge_end(struct player *p, struct judgement *j) {
    const int status = status_of_end(p);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return judge(j, STATE_MACHINE, "the process with the kernels was killed from outside");
    return judge(j, STATE_FAULTED, "the process with the kernels crashed (%s)",
                 WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended by itself");
}

/* Kernels may reach what the driver maps into that process: accept only values in range. */
static bool understand(struct answer *answer, struct judgement *j) {
    answer->reason[REASON_SIZE - 1] = '\0';
    if (answer->fine == 1) return true;
    if (answer->state == STATE_TIMED || answer->state >= STATES || !answer->reason[0])
        return judge(j, STATE_FAULTED, "the process with the kernels sent a malformed answer");
    return judge(j, (enum state)answer->state, "%s", answer->reason);
}

bool player_do(struct player *p, enum command command, struct times *times, struct judgement *j) {
    const bool is_run = command == WARM_UP || command == TIME;
    const double limit = is_run ? p->seconds_left : own_limit, begun = clock_seconds();
    const unsigned char byte = (unsigned char)command;
    struct answer answer;
    if (send(p->socket, &byte, 1, MSG_NOSIGNAL) != 1) return judge_end(p, j);
    for (;;) {
        const double left = limit - (clock_seconds() - begun);
        struct pollfd wait = {.fd = p->socket, .events = POLLIN};
        if (left <= 0 && is_run)
            return judge(j, STATE_TIME_LIMIT, "it was still running at its time limit");
        if (left <= 0)
            return judge(j, STATE_MACHINE, "the process with the kernels does not answer");
        if (poll(&wait, 1, (int)(left * 1e3) + 1) <= 0) continue;
        const ssize_t size = recv(p->socket, &answer, sizeof answer, MSG_DONTWAIT);
        if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (size != (ssize_t)sizeof answer) return judge_end(p, j);
        break;
    }
    if (is_run) p->seconds_left -= clock_seconds() - begun;
    if (command == TIME) *times = answer.times;
    return understand(&answer, j);
}

/* ---- the player's side ---------------------------------------------------------------------- */

/* The driver writes to standard output what kernels print; and when the clock ends, so does this.
 * The driver translates no PTX here: what is timed is what nvcc made. */
static void seal_process(void) {
    const int nothing = open("/dev/null", O_RDWR);
    if (setenv("CUDA_DISABLE_PTX_JIT", "1", true) != 0) _exit(EXIT_MACHINE);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
        if (nothing < 0 || dup2(nothing, i) < 0) _exit(EXIT_MACHINE);
}

static _Noreturn void play(struct player *p, const void *image, const struct recording *recording) {
    struct judgement j = {.state = STATE_MACHINE, .reason = "the player has no GPU"};
    unsigned char command;
    seal_process();
    struct replay *replay = replay_new(image, recording, &j); /* reported with the first answer */
    while (recv(p->socket, &command, 1, 0) == 1) {
        struct answer answer = {0};
        answer.fine =
            replay && replay_do(replay, (enum command)command, p->arrays, &answer.times, &j);
        answer.state = j.state;
        memcpy(answer.reason, j.reason, sizeof answer.reason);
        if (send(p->socket, &answer, sizeof answer, MSG_NOSIGNAL) < 0) break;
    }
    _exit(EXIT_PASSED);
}

/* ---- beginning and end ---------------------------------------------------------------------- */

struct player *player_new(const void *image, const struct recording *recording, double seconds,
                          struct judgement *j) {
    struct player *p = calloc(1, sizeof *p);
    int ends[2];
    if (!p || !share_memory(p, recording) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0 ||
        (p->process = fork()) < 0) {
        judge(j, STATE_MACHINE, "no process for the kernels: %s", strerror(errno));
        return NULL;
    }
    const bool is_player = p->process == 0;
    p->seconds_left = seconds;
    p->socket = ends[is_player];
    close(ends[!is_player]);
    if (is_player) play(p, image, recording);
    return p;
}

/* It takes the driver a moment to end a kernel that hangs; the next to use the GPU should not find
 * it there. */
void player_free(struct player *p) {
    if (p->process > 0) {
        kill(p->process, SIGKILL);
        (void)TEMP_FAILURE_RETRY(waitpid(p->process, NULL, 0));
    }
    close(p->socket);
    free(p);
}
