/* The watchdog: ends a run whose wrapper hangs, crashes or exits, and passes on what is printed
 * meanwhile, so that the report knows whether a line is open.
 *
 * A separate thread, because a student's loop on the host, a driver that waits for a GPU and a
 * fiber of the CPU backend all leave other threads running. It ends the run after a crash, too: the
 * signal handler only sends it an order. All texts are made beforehand, because the thread that
 * crashed may hold a lock. */
#define _GNU_SOURCE /* open_memstream, pipe2 */
#include "../../report/text/clock.h"
#include "../../report/text/numbers.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TIME_OVER, EXITED, FIRST_CRASH };

static const struct {
    int signal;       /* 0: none */
    const char *text; /* behind the wrapper's name */
    bool of_memory;
} endings[] = {
    [TIME_OVER] = {0, NULL, false},
    [EXITED] = {0, "ended the program instead of returning: exit()?", false},
    [FIRST_CRASH] = {SIGSEGV, "crashed on the host: invalid memory access (SIGSEGV).\n", true},
    {SIGBUS, "crashed on the host: invalid memory access (SIGBUS).\n", true},
    {SIGFPE, "crashed: integer division by zero (SIGFPE).", false},
    {SIGILL,
     "crashed: illegal instruction (SIGILL).\n"
     "Does every path through a function that returns a value return one?",
     false},
    {SIGABRT, "crashed: aborted (SIGABRT).", false},
};

enum { ENDINGS = LENGTH(endings), ORDER_STOP = ENDINGS, ORDER_SYNC };

static struct {
    bool running;
    pthread_t thread;
    double deadline; /* of clock_seconds() */
    struct report *report;
    int orders[2];       /* a pipe of bytes: an ending, or ORDER_... */
    sem_t synced;        /* an ORDER_SYNC is done */
    int descriptor;      /* where the report goes */
    int printed[2];      /* a pipe in place of standard output; -1: there is none */
    double seconds;      /* the limit */
    struct texts *texts; /* the last made, atomic: the thread may end the run meanwhile */
} watchdog = {.orders = {-1, -1}, .printed = {-1, -1}};

/* What a run ends with. */
struct texts {
    struct texts *earlier;
    char *of[ENDINGS];
    size_t length[ENDINGS];
};

static void write_all(const char *text, size_t length) {
    while (length > 0) {
        ssize_t written = write(watchdog.descriptor, text, length);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text += written;
        length -= (size_t)written;
    }
}

/* -- what the kernel and the wrapper print -- */

/* Pass on at most so many bytes of what was printed; how many there were. */
static size_t pass_on(size_t most) {
    char bytes[4096];
    ssize_t count = read(watchdog.printed[0], bytes, min_size(most, sizeof bytes));
    if (count <= 0) return 0;
    if (watchdog.report->line == LINE_OF_STAGE) write_all("\n", 1);
    write_all(bytes, (size_t)count);
    watchdog.report->line = bytes[count - 1] == '\n' ? LINE_START : LINE_OF_KERNEL;
    return (size_t)count;
}

/* All that was printed until now; a kernel may go on printing. */
static void pass_on_all(void) {
    int waiting = 0;
    if (watchdog.printed[0] < 0 || ioctl(watchdog.printed[0], FIONREAD, &waiting) != 0) return;
    for (size_t left = (size_t)waiting, count = 1; left > 0 && count > 0; left -= count)
        count = pass_on(left);
}

static void end_line(void) {
    if (watchdog.report->options.json || watchdog.report->line == LINE_START) return;
    write_all("\n", 1);
    watchdog.report->line = LINE_START;
}

/* Standard output goes through the watchdog from now on. */
static void take_output(void) {
    if (watchdog.report->options.json) return; /* it goes to standard error already */
    if (watchdog.printed[0] < 0 && pipe2(watchdog.printed, O_CLOEXEC) != 0) return;
    dup2(watchdog.printed[1], STDOUT_FILENO);
}

static void give_output_back(void) {
    fflush(stdout);
    if (watchdog.printed[0] >= 0) dup2(watchdog.descriptor, STDOUT_FILENO);
}

/* -- how a run ends -- */

static void end_run(int ending) {
    const struct texts *texts = __atomic_load_n(&watchdog.texts, __ATOMIC_ACQUIRE);
    end_line();
    if (texts && texts->of[ending]) write_all(texts->of[ending], texts->length[ending]);
    _exit(EXIT_WRONG);
}

static void order(unsigned char what) {
    while (write(watchdog.orders[1], &what, 1) < 0 && errno == EINTR) continue;
}

/* A crash outside the wrapper is a fault of this program and takes its usual course. */
static void on_crash(int signal) {
    for (int i = FIRST_CRASH; i < ENDINGS && watchdog.running; i++) {
        if (endings[i].signal != signal) continue;
        order((unsigned char)i);
        for (;;) pause();
    }
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigaction(signal, &action, NULL);
    raise(signal);
}

/* exit() in the wrapper: without this the run would end with the student's status, even 0. */
static void on_exit_called(void) {
    if (!watchdog.running) return;
    fflush(stdout);
    order(EXITED);
    for (;;) pause();
}

/* Where a sanitizer has installed a handler, it stays: it reports more about a crash. */
static void catch_crashes(void) {
    static char stack[64 * 1024]; /* the thread's own may be what overflowed */
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack}, current;
    if (sigaltstack(NULL, &current) == 0 && (current.ss_flags & SS_DISABLE))
        sigaltstack(&alternative, NULL);
    for (int i = FIRST_CRASH; i < ENDINGS; i++) {
        struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK}, before;
        sigaction(endings[i].signal, NULL, &before);
        if (!(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
            sigaction(endings[i].signal, &action, NULL);
    }
}

/* -- the thread -- */

/* False: the thread is to end. */
static bool obey(void) {
    unsigned char what;
    if (read(watchdog.orders[0], &what, 1) != 1) return true;
    pass_on_all();
    if (what < ENDINGS) end_run(what);
    if (what == ORDER_STOP) return false;
    end_line();
    sem_post(&watchdog.synced);
    return true;
}

/* On a terminal, in the stage's line, where its time will be: the seconds until now. */
static void show_time(void) {
    const double patience = 2;
    const struct report *report = watchdog.report;
    double seconds = clock_seconds() - report->stage_start;
    char text[32];
    if (seconds < patience || report->options.json || report->line != LINE_OF_STAGE ||
        !isatty(watchdog.descriptor))
        return;
    int length = snprintf(text, sizeof text, "%5.0f s", seconds);
    write_all(text, (size_t)length);
    write_all("\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b", (size_t)length);
}

static void *watchdog_run(void *unused) {
    for (;;) {
        double left = watchdog.deadline - clock_seconds();
        if (left <= 0) {
            pass_on_all();
            end_run(TIME_OVER);
        }
        struct pollfd ready[] = {{.fd = watchdog.orders[0], .events = POLLIN},
                                 {.fd = watchdog.printed[0], .events = POLLIN}};
        const double longest = 1;
        if (poll(ready, 2, (int)(1e3 * (left < longest ? left : longest)) + 1) <= 0) {
            show_time();
        } else if (ready[0].revents) {
            if (!obey()) return unused;
        } else if (ready[1].revents) {
            pass_on(SIZE_MAX);
        }
    }
}

/* "A, B and C are device pointers: ..." */
static void say_device_pointers(char message[MESSAGE_SIZE]) {
    const int count = lab_arrays(&lab);
    for (int i = 0; i < count; i++)
        append(message, MESSAGE_SIZE, "%s%s",
               i == 0          ? ""
               : i + 1 < count ? ", "
                               : " and ",
               lab.arrays[i].name);
    append(message, MESSAGE_SIZE,
           count == 1 ? " is a device pointer: only the kernel may dereference it."
                      : " are device pointers: only the kernel may dereference them.");
}

static void make_texts(void) {
    struct texts *texts = calloc(1, sizeof *texts);
    for (int i = 0; texts && i < ENDINGS; i++) {
        char message[MESSAGE_SIZE] = "";
        FILE *out = open_memstream(&texts->of[i], &texts->length[i]);
        if (!out) continue;
        APPEND(message, "%s ", lab.wrapper);
        if (i == TIME_OVER)
            APPEND(message, "did not return within %.3g s: does a loop or a barrier never end?",
                   watchdog.seconds);
        else
            APPEND(message, "%s", endings[i].text);
        if (endings[i].of_memory) say_device_pointers(message);
        report_cause(watchdog.report, message, out);
        fclose(out);
    }
    if (!texts) return;
    texts->earlier = watchdog.texts;
    __atomic_store_n(&watchdog.texts, texts, __ATOMIC_RELEASE);
}

static void free_texts(void) {
    for (struct texts *texts = watchdog.texts, *earlier; texts; texts = earlier) {
        earlier = texts->earlier;
        for (int i = 0; i < ENDINGS; i++) free(texts->of[i]);
        free(texts);
    }
    watchdog.texts = NULL;
}

void watchdog_launched(void) {
    if (watchdog.running) make_texts();
}

bool watchdog_begin(struct report *report) {
    watchdog.report = report;
    watchdog.descriptor = dup(fileno(report->out));
    if (pipe2(watchdog.orders, O_CLOEXEC) != 0 || sem_init(&watchdog.synced, 0, 0) != 0)
        return false;
    atexit(on_exit_called);
    catch_crashes();
    return true;
}

void watchdog_start(double seconds) {
    watchdog_stop();
    fflush(watchdog.report->out);
    watchdog.seconds = seconds;
    make_texts();
    watchdog.deadline = clock_seconds() + seconds;
    take_output();
    watchdog.running = pthread_create(&watchdog.thread, NULL, watchdog_run, NULL) == 0;
    if (!watchdog.running) give_output_back();
}

void watchdog_stop(void) {
    if (!watchdog.running) return;
    give_output_back();
    order(ORDER_STOP);
    pthread_join(watchdog.thread, NULL);
    free_texts();
    watchdog.running = false;
}

void watchdog_end_line(void) {
    fflush(stdout);
    if (!watchdog.running) return;
    order(ORDER_SYNC);
    while (sem_wait(&watchdog.synced) != 0) continue;
}
