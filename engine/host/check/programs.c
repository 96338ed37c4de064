/* The other programs from the same kernel.cu that make check asks, see check.h: the plain one
 * beside it, of which it reads what it prints; the one that says which blocks write
 * (writers_program.c); and the one that knows the local variables.
 */
#define _GNU_SOURCE
#include "../../report/text/numbers.h"
#include "../../report/text/text.h"
#include "check.h"
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The words of a command line, for exec: behind them are nulls. */
struct command {
    char *of[64];
};

__attribute__((format(printf, 1, 2))) static struct command command(const char *format, ...) {
    struct command command = {{NULL}};
    char *line;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&line, format, arguments) < 0) _exit(EXIT_MACHINE);
    va_end(arguments);
    char *word = strtok(line, " \n");
    for (int i = 0; word && i + 1 < LENGTH(command.of); word = strtok(NULL, " \n"))
        command.of[i++] = word;
    return command;
}

/* --- the program beside this one -------------------------------------------------------------- */

static _Noreturn void run_plain_program(const struct check_options *o, const struct shape *s,
                                        int out) {
    dup2(out, STDOUT_FILENO);
    execv(o->plain, command("%s --seed=%" PRIu64 " --fill=%s %s", lab.name, o->run.which.seed,
                            lab.fills[o->run.which.fill].name, lab_shape_words(&lab, s).of)
                        .of);
    _exit(EXIT_MACHINE);
}

/* Reads the line behind "TEST FAILED". False: the program has not printed that. */
static bool read_verdict(FILE *printed, char *line, int size) {
    bool failed = false;
    rewind(printed);
    while (fgets(line, size, printed)) {
        line[strcspn(line, "\n")] = '\0';
        if (failed) return line[0];
        failed = strcmp(line, "TEST FAILED") == 0;
    }
    return false;
}

bool plain_is_wrong(const struct check_options *o, struct outcome *outcome) {
    const struct child_limits limits = {o->run.timeout + 5, 10 * (o->run.timeout + 5)};
    char verdict[200];
    if (!o->plain || outcome->plain_is_correct) return false;
    FILE *printed = tmpfile();
    if (!printed) return false;
    if (child_quiet(outcome->shape, &limits))
        run_plain_program(o, &outcome->shape, fileno(printed));
    const bool is_wrong = read_verdict(printed, verdict, sizeof verdict);
    fclose(printed);
    if (!is_wrong) return false;
    struct finding *f = &outcome->finding;
    *f = (struct finding){.kind = FINDING_WRONG_RESULT, .at = {.known = true}};
    check_file(f->at.file, sizeof f->at.file);
    slot_set(f->slot, SLOT_ELSEWHERE, 1);
    snprintf(f->named, sizeof f->named, "%s", lab.name);
    APPEND(outcome->explained.text, "./%s %s --fill %s --seed %" PRIu64 " prints:\n%s", lab.name,
           lab_shape_words(&lab, &outcome->shape).of, lab.fills[o->run.which.fill].name,
           o->run.which.seed, verdict);
    return true;
}

/* --- programs that are made when they are asked ----------------------------------------------- */

static const char TEXT[] = "build/cpu/kernel.ii"; /* of kernel.cu, which both are made of */

/* Commands that make them, a line of words each, embedded where make check is built. None is linked
 * where the grader looks for causes. */
extern const char writers_command[] __attribute__((weak));
extern const char locals_command[] __attribute__((weak));

static _Noreturn void run_command(const char *line) {
    const struct command make = command("%s", line);
    execvp(make.of[0], make.of);
    _exit(EXIT_MACHINE);
}

static bool is_newer(const struct stat *file, const struct stat *than) {
    const struct timespec now = file->st_mtim, then = than->st_mtim;
    return now.tv_sec != then.tv_sec ? now.tv_sec > then.tv_sec : now.tv_nsec > then.tv_nsec;
}

/* Opens the program `given`, or the one that the command makes if none was made since this program
 * was built. -1: there is none, or kernel.cu has changed since. Where programs were copied it may
 * still be of another kernel.cu: so it is handed a hash, and ends at once if that is not its own.
 */
static int made_program(const char *given, const char *path, const char *command,
                        struct shape shape) {
    const struct child_limits limits = {60, 600};
    struct stat self, text, program;
    if (given) return open(given, O_RDONLY | O_CLOEXEC);
    if (!command || stat("/proc/self/exe", &self) != 0 || stat(TEXT, &text) != 0 ||
        is_newer(&text, &self))
        return -1;
    const bool is_made = stat(path, &program) == 0 && is_newer(&program, &self);
    if (!is_made && child_quiet(shape, &limits)) run_command(command);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* --- the program that says which blocks write ------------------------------------------------- */

static const double longest = 5; /* seconds for a block: an endless one is found under watch */

/* What it prints was printed, or will be, by the run under watch. */
static _Noreturn void run_writers_program(const struct check_options *o, struct shape s,
                                          double share, int program, int out) {
    const double seconds = fmin(share * o->run.timeout, longest);
    fcntl(out, F_SETFD, 0);
    fexecve(program,
            command("writers %" PRIu64 " %d %" PRIu64 " %f %d %s", check_source_hash(),
                    o->run.which.fill, o->run.which.seed, seconds, out,
                    lab_shape_words(&lab, &s).of)
                .of,
            environ);
    _exit(EXIT_MACHINE);
}

const struct writers *ask_writers(const struct check_options *o, struct shape s, double share,
                                  bool *correct) {
    const struct child_limits limits = {60, 600}; /* it has limits of its own */
    const int program = made_program(o->writers_program, "build/check/writers", writers_command, s);
    const int out = program < 0 ? -1 : memfd_create("written", MFD_CLOEXEC);
    const bool has_room = out >= 0 && ftruncate(out, (off_t)sizeof(struct plain_run)) == 0;
    const struct plain_run *said = mmap(NULL, sizeof *said, PROT_READ, MAP_SHARED, out, 0);
    if (has_room && program >= 0 && said != MAP_FAILED && child_quiet(s, &limits))
        run_writers_program(o, s, share, program, out);
    if (out >= 0) close(out);
    if (program >= 0) close(program);
    const bool done = has_room && said != MAP_FAILED && said->done;
    *correct = done && said->correct;
    return done ? &said->writers : NULL;
}

/* --- the program that knows the local variables -------------------------------------------------
 *
 * What the two say to each other: a number of a descriptor, the kind and line of the finding and
 * which kernel.cu it is in on its command line, and a struct cause back. */

static _Noreturn void run_locals_program(int program, int answer, const struct check_options *o,
                                         const struct outcome *failed) {
    const struct finding *f = &failed->finding;
    const struct command words = command(
        "%s-check --locals %d,%d,%d,%" PRIu64 " --seed=%" PRIu64 " --fill=%s --timeout=%g %s",
        lab.name, answer, (int)f->kind, f->at.line, check_source_hash(), o->run.which.seed,
        lab.fills[o->run.which.fill].name, o->run.timeout,
        lab_shape_words(&lab, &failed->shape).of);
    fcntl(answer, F_SETFD, 0);
    fexecve(program, words.of, environ);
    _exit(EXIT_MACHINE);
}

/* The program has ended: what it has said is in the pipe. */
static bool read_answer(int from, struct cause *cause) {
    char file[sizeof cause->file]; /* a name of this machine's, which may have any letters */
    if (read(from, cause, sizeof *cause) != (ssize_t)sizeof *cause) return false;
    memcpy(file, cause->file, sizeof file);
    memset(cause->file, 0, sizeof cause->file);
    if (!cause_check(cause)) return false;
    snprintf(cause->file, sizeof cause->file, "%.*s", (int)sizeof file - 1, file);
    return true;
}

void locals_ask(const struct check_options *o, const struct outcome *failed, struct cause *cause) {
    const struct child_limits limits = {15, 120}; /* its own children have theirs */
    const int program =
        made_program(o->locals_program, "build/check/locals", locals_command, failed->shape);
    struct cause found;
    int answer[2];
    if (program < 0) return;
    if (pipe2(answer, O_CLOEXEC) == 0) {
        if (child_quiet(failed->shape, &limits)) run_locals_program(program, answer[1], o, failed);
        close(answer[1]);
        if (read_answer(answer[0], &found)) *cause = found;
        close(answer[0]);
    }
    close(program);
}

bool locals_read_request(const char *value, struct check_options *o) {
    int kind;
    uint64_t hash;
    char more;
    if (sscanf(value, "%d,%d,%d,%" SCNu64 "%c", &o->locals_answer, &kind, &o->locals_failed.line,
               &hash, &more) != 4)
        return false;
    o->locals_failed.kind = (enum finding_kind)kind;
    return hash == check_source_hash() && finding_text(o->locals_failed.kind) != NULL;
}
