/* What the plain build makes of the same shape: the program beside this one is run, and what it
 * prints is read; and the one that is embedded here as writers_program (writers_program.c) says
 * which blocks write. */
#define _GNU_SOURCE
#include "../../report/text/text.h"
#include "check.h"
#include "writers_program.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the program beside this one -------------------------------------------------------------- */

static _Noreturn void run_plain_program(const struct check_options *o, const struct shape *s,
                                        int out) {
    struct command c = {0};
    command_add(&c, "%s", lab.name);
    command_add(&c, "--seed=%" PRIu64, o->run.which.seed);
    command_add(&c, "--fill=%s", lab.fills[o->run.which.fill].name);
    command_add_shape(&c, s);
    dup2(out, STDOUT_FILENO);
    execv(o->plain, command_words(&c));
    _exit(EXIT_MACHINE);
}

/* The line behind "TEST FAILED" in what the program has printed; empty: it does not say that. */
struct verdict_line {
    char text[200];
};

static struct verdict_line read_verdict(FILE *printed) {
    struct verdict_line line = {""};
    bool next = false;
    rewind(printed);
    while (fgets(line.text, sizeof line.text, printed)) {
        line.text[strcspn(line.text, "\n")] = '\0';
        if (next) return line;
        next = strcmp(line.text, "TEST FAILED") == 0;
    }
    return (struct verdict_line){""};
}

static void set_finding(const struct check_options *o, const struct shape *s, const char *verdict,
                        struct outcome *outcome) {
    struct finding *f = &outcome->finding;
    *f = (struct finding){.kind = FINDING_WRONG_RESULT, .at = {.known = true}};
    check_file(f->at.file, sizeof f->at.file);
    slot_set(f->slot, SLOT_ELSEWHERE, 1);
    snprintf(f->named, sizeof f->named, "%s", lab.name);
    APPEND(outcome->explained.text, "./%s %s --fill %s --seed %" PRIu64 " prints:\n%s", lab.name,
           lab_shape_words(&lab, s).of, lab.fills[o->run.which.fill].name, o->run.which.seed,
           verdict);
}

bool plain_is_wrong(const struct check_options *o, struct outcome *outcome) {
    const struct child_limits limits = {o->run.timeout + 5, 10 * (o->run.timeout + 5)};
    if (!o->plain || outcome->plain_is_correct) return false;
    FILE *printed = tmpfile();
    if (!printed) return false;
    if (child_quiet(outcome->shape, &limits))
        run_plain_program(o, &outcome->shape, fileno(printed));
    const struct verdict_line verdict = read_verdict(printed);
    fclose(printed);
    if (!verdict.text[0]) return false;
    set_finding(o, &outcome->shape, verdict.text, outcome);
    return true;
}

/* --- the program in this one ------------------------------------------------------------------ */

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
