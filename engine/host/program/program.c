/* A program with its own main(), under watch from before main() to its end.
 *
 * Before main() the process forks. The child becomes the program: it keeps arguments, standard
 * input and output, and is watched. Its parent waits for it, however it ends, and says what was
 * found: on standard error, or as JSON on standard output. So a program may call exit() or abort(),
 * crash, or run without end, and print what it likes.
 *
 * From the environment: ENGINE_JSON=1, ENGINE_FIRST=1, ENGINE_TIMEOUT=seconds. */
#define _GNU_SOURCE
#include "../../cuda/runtime/runtime.h"
#include "../../engine.h"
#include "../../report/text/source.h"
#include "../../report/text/text.h"
#include "../../report/words/print.h"
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

enum { PROGRAM_FINDINGS = 32 };
enum { EXIT_MISTAKE = 1, EXIT_BAD_USAGE = 2, EXIT_BAD_MACHINE = 3 };

/* In memory that the program's process shares with the one that waits for it. */
static struct program_run {
    struct finding findings[PROGRAM_FINDINGS]; /* the gravest first */
    int count;
    int launches;
    bool is_leak;            /* the finding is what was never freed: none, if the program failed */
    bool in_kernel;          /* one was running when the program ended */
    bool ended;              /* all of this is complete */
    char machine_fault[256]; /* why the machine is at fault; empty: it is not */
    int status;              /* that the program gave exit(), or returned from main() */
    int signal;              /* by which it was stopped; 0: none */
    double seconds;          /* that it took */
} * run;

/* --- what is said of a run -------------------------------------------------------------------- */

static bool went_well(void) { return !run->status && !run->signal; }

static int findings(void) { return run->is_leak && !went_well() ? 0 : run->count; }

/* 0: nothing was found and the program says that all went well; 1; 3: the machine is at fault. */
static int exit_status(void) {
    if (run->machine_fault[0]) return EXIT_BAD_MACHINE;
    return findings() || !went_well() ? EXIT_MISTAKE : 0;
}

static void print_finding(FILE *out, const struct finding *f) {
    struct finding_words words;
    finding_say(f, &words);
    print_headline(out, f->at.line ? f->at.file : source_name(), f->at.line, print_red, words.what);
    print_indented(out, words.detail);
    if (f->kind != FINDING_HOST_FAULT && f->kind != FINDING_FAILED_CALL) /* that was over then */
        print_launch(out, &f->launch);
    if (f->at.in_kernel) {
        fputs("    block ", out);
        print_index(out, f->at.block);
        fputs(", thread ", out);
        print_index(out, f->at.thread);
        fputc('\n', out);
        if (!f->at.line)
            fputs("    (no source line: is addr2line, of binutils, installed?)\n", out);
    }
    if (words.hint[0]) print_paragraph("    ", "hint: ", words.hint, out);
}

/* As text, on standard error. */
static void print_text(void) {
    const int count = findings();
    FILE *out = stderr;
    if (run->machine_fault[0]) {
        fprintf(out, "%s\n", run->machine_fault);
        return;
    }
    for (int i = 0; i < count; i++) print_finding(out, &run->findings[i]);
    if (run->signal)
        fprintf(out, "the program was stopped: %s\n", strsignal(run->signal));
    else if (run->status)
        fprintf(out, "the program ended with exit status %d\n", run->status);
    if (count > 1) fprintf(out, "%d mistakes found\n", count);
    if (!run->ended)
        fputs("it could not be asked what was seen until then\n", out);
    else if (!count && !run->launches)
        fputs("no kernel was launched\n", out);
    else if (!count && run->in_kernel)
        fputs("no mistake was found, but a kernel was still running when the program ended\n", out);
    else if (!count)
        fprintf(out,
                "no mistakes found: every load and store of %d launch%s was checked (%.2f s)\n",
                run->launches, run->launches == 1 ? "" : "es", run->seconds);
}

/* As JSON, on standard output, one object on one line:
 *   status       "clean", "finding"; "failed": nothing was found, but the program says that it did
 *                not go well; "error": the machine is at fault
 *   exit_status  0, 1 or 3
 *   message      what is wrong with the machine; else null
 *   source       what the program was built from
 *   program      exit_status and signal (a number, or null) with which it ended, seconds
 *   launches     of kernels
 *   in_kernel    whether the last of them was still running at the program's end
 *   findings     the gravest first, as in engine/host/check/check_print.c */
static void print_json(void) {
    const int status = exit_status(), count = findings();
    struct json json = {stdout, false};
    json_open(&json, NULL, '{');
    json_text(&json, "status",
              status == EXIT_BAD_MACHINE ? "error"
              : count                    ? "finding"
              : status                   ? "failed"
                                         : "clean");
    json_value(&json, "exit_status", "%d", status);
    json_text(&json, "message", run->machine_fault);
    source_json(&json, source_state());
    json_open(&json, "program", '{');
    json_value(&json, "exit_status", run->signal ? "null" : "%d", run->status);
    json_value(&json, "signal", run->signal ? "%d" : "null", run->signal);
    json_value(&json, "seconds", "%.6f", run->seconds);
    json_close(&json, '}');
    json_value(&json, "launches", "%d", run->launches);
    json_value(&json, "in_kernel", "%s", run->in_kernel ? "true" : "false");
    json_open(&json, "findings", '[');
    for (int i = 0; i < count; i++) {
        const struct finding *f = &run->findings[i];
        struct finding_words words;
        finding_say(f, &words);
        json_open(&json, NULL, '{');
        json_words(&json, f, &words);
        json_parties(&json, f);
        json_launch(&json, &f->launch);
        json_slots(&json, f->slot);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
    fputc('\n', stdout);
}

static const double usual_seconds = 60;      /* for the host's code, and for a block */
static const double launch_blocks = 10;      /* a launch may take as long as so many blocks */
static const uint64_t alone_threads = 65536; /* so few run in order, the same each time */
static const unsigned grace_seconds = 10;    /* for saying where, when the program is stopped */

static pid_t program; /* the process that is watched; 0: not yet */

static bool is_set(const char *name) {
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

/* --- the program's process -------------------------------------------------------------------- */

static _Noreturn void end_at_once(int status) {
    syscall(SYS_exit_group, status);
    abort(); /* not reached */
}

static pid_t finisher; /* the thread that completes the run; 0: it goes on */

static bool is_finisher(void) { return __atomic_load_n(&finisher, __ATOMIC_SEQ_CST) == gettid(); }

/* Completes the run; a second thread waits for the end. Processes that the program has made are not
 * watched. */
static void finish(void) {
    pid_t nobody = 0;
    if (getpid() != program || is_finisher()) return;
    while (!__atomic_compare_exchange_n(&finisher, &nobody, gettid(), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
        pause();
        nobody = 0;
    }
    struct engine_result result;
    run->in_kernel = launch_is_running();
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
}

static void machine_fault(const char *what) {
    snprintf(run->machine_fault, sizeof run->machine_fault, "%s", what);
    end_at_once(EXIT_BAD_MACHINE);
}

/* The C library's own exit() ends the process without this one. */
void _exit(int status) {
    finish();
    end_at_once(status);
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
    if (is_finisher()) return;
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

static void wait_for_program(void) {
    const struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    const double begun = clock_seconds();
    int status = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    (void)TEMP_FAILURE_RETRY(waitpid(child, &status, 0));
    run->seconds = clock_seconds() - begun;
    if (WIFSIGNALED(status)) run->signal = WTERMSIG(status);
    if (WIFEXITED(status)) run->status = WEXITSTATUS(status);
}

static double timeout(void) {
    const char *text = getenv("ENGINE_TIMEOUT");
    if (!text || !*text) return usual_seconds;
    char *end;
    const double seconds = strtod(text, &end);
    if (end == text || *end || !(seconds > 0 && seconds <= INT_MAX)) {
        fprintf(stderr, "TIMEOUT=%s: it is a number of seconds above 0\n", text);
        end_at_once(EXIT_BAD_USAGE);
    }
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
    wait_for_program();
    (is_set("ENGINE_JSON") ? print_json : print_text)();
    fflush(NULL);
    end_at_once(exit_status());
}
