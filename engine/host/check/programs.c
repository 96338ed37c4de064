/* The other programs from the same kernel.cu that make check asks, see check.h: the plain one
 * beside it, of which it reads what it prints; the one that is embedded here as writers_program
 * (writers_program.c), which says which blocks write; and the one that knows the local variables.
 */
#define _GNU_SOURCE
#include "../../report/text/numbers.h"
#include "../../report/text/source.h"
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

/* --- the program in this one ------------------------------------------------------------------ */

/* Not linked where the grader looks for causes; empty where the plain build does not compile. */
extern const char writers_program[] __attribute__((weak));
extern const char writers_program_end[] __attribute__((weak));

/* As a file without a name, which no other program inherits. -1: it is empty, or no file can be
 * made. */
static int writers_file(void) {
    const char *begin = writers_program, *const end = writers_program_end;
    const int file = begin && begin < end ? memfd_create("writers", MFD_CLOEXEC) : -1;
    while (file >= 0 && begin < end) {
        const ssize_t written = write(file, begin, (size_t)(end - begin));
        if (written <= 0) {
            close(file);
            return -1;
        }
        begin += written;
    }
    return file;
}

static const double faster = 0.2; /* than the run under watch */
static const double longest = 5;  /* seconds for a block: an endless one is found under watch */

/* What it prints was printed, or will be, by the run under watch. */
static _Noreturn void run_writers_program(const struct check_options *o, struct shape s,
                                          int program, int out) {
    const double seconds = fmin(faster * o->run.timeout, longest);
    fcntl(out, F_SETFD, 0);
    fexecve(program,
            command("writers %d %" PRIu64 " %f %d %s", o->run.which.fill, o->run.which.seed,
                    seconds, out, lab_shape_words(&lab, &s).of)
                .of,
            environ);
    _exit(EXIT_MACHINE);
}

const struct writers *ask_writers(const struct check_options *o, struct shape s, bool *correct) {
    const struct child_limits limits = {60, 600}; /* it has limits of its own */
    const int out = memfd_create("written", MFD_CLOEXEC), program = writers_file();
    const bool has_room = out >= 0 && ftruncate(out, (off_t)sizeof(struct plain_run)) == 0;
    const struct plain_run *said = mmap(NULL, sizeof *said, PROT_READ, MAP_SHARED, out, 0);
    if (has_room && program >= 0 && said != MAP_FAILED && child_quiet(s, &limits))
        run_writers_program(o, s, program, out);
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

/* Words that make `made`, an empty file where kernel.cu has no such variables: embedded where make
 * check is built. */
extern const char locals_command[] __attribute__((weak));
static const char made[] = "build/check/locals";

static _Noreturn void run_command(void) {
    const struct command make = command("%s", locals_command);
    execvp(make.of[0], make.of);
    _exit(EXIT_MACHINE);
}

/* Whether `made` is there since this program was built: run by run, it is made once. */
static bool is_made(void) {
    struct stat program, self;
    if (stat(made, &program) != 0 || stat("/proc/self/exe", &self) != 0) return false;
    const struct timespec then = self.st_mtim, now = program.st_mtim;
    return now.tv_sec != then.tv_sec ? now.tv_sec > then.tv_sec : now.tv_nsec > then.tv_nsec;
}

/* -1: there is none. It may be of another kernel.cu: hash_of_source(). */
static int program_file(const struct check_options *o, struct shape shape) {
    const struct child_limits limits = {60, 600};
    if (o->locals_program) return open(o->locals_program, O_RDONLY | O_CLOEXEC);
    if (!locals_command) return -1;
    if (!is_made() && child_quiet(shape, &limits)) run_command();
    return open(made, O_RDONLY | O_CLOEXEC);
}

static uint64_t hash_of_source(void) {
    const char *text = source_text();
    return check_hash(text, text ? strlen(text) : 0, 0);
}

static _Noreturn void run_locals_program(int program, int answer, const struct check_options *o,
                                         const struct outcome *failed) {
    const struct finding *f = &failed->finding;
    const struct command words = command(
        "%s-check --locals %d,%d,%d,%" PRIu64 " --seed=%" PRIu64 " --fill=%s --timeout=%g %s",
        lab.name, answer, (int)f->kind, f->at.line, hash_of_source(), o->run.which.seed,
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
    const int program = program_file(o, failed->shape);
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
    return hash == hash_of_source() && finding_text(o->locals_failed.kind) != NULL;
}
