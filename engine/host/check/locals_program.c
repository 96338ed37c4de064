/* Making and starting the program that knows the local variables, and what the two say to each
 * other: a number of a descriptor, the kind and line of the finding and which kernel.cu it is in on
 * its command line, and a struct cause back. */
#define _GNU_SOURCE
#include "../../report/text/source.h"
#include "cause.h"
#include "check.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Words that make `made`, an empty file where kernel.cu has no such variables: embedded where make
 * check is built. */
extern const char locals_command[] __attribute__((weak));
static const char made[] = "build/check/locals";

extern char **environ;

bool locals_are_asked(enum finding_kind kind) {
    const struct finding_kind_text *text = finding_text(kind);
    return text && text->cause != FINDING_CAUSE_NEVER;
}

static _Noreturn void run_command(void) {
    enum { WORDS = 64 };
    char *const text = strdup(locals_command), *word[WORDS], *rest = text;
    int count = 0;
    while (count < WORDS - 1 && (word[count] = strsep(&rest, " \n")) && *word[count]) count++;
    word[count] = NULL;
    execvp(word[0], word);
    _exit(EXIT_MACHINE);
}

/* Whether `made` is there since this program was built: run by run, it is made once. */
static bool is_made(void) {
    struct stat program, self;
    if (stat(made, &program) != 0 || stat("/proc/self/exe", &self) != 0) return false;
    return program.st_mtim.tv_sec != self.st_mtim.tv_sec
               ? program.st_mtim.tv_sec > self.st_mtim.tv_sec
               : program.st_mtim.tv_nsec > self.st_mtim.tv_nsec;
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
    struct command c = {0};
    command_add(&c, "%s-check", lab.name);
    command_add(&c, "--locals");
    command_add(&c, "%d,%d,%d,%" PRIu64, answer, (int)failed->finding.kind, failed->finding.at.line,
                hash_of_source());
    command_add(&c, "--seed=%" PRIu64, o->run.which.seed);
    command_add(&c, "--fill=%s", lab.fills[o->run.which.fill].name);
    command_add(&c, "--timeout=%g", o->run.timeout);
    command_add_shape(&c, &failed->shape);
    fcntl(answer, F_SETFD, 0);
    fexecve(program, command_words(&c), environ);
    _exit(EXIT_MACHINE);
}

static bool read_answer(int from, struct cause *cause) {
    size_t length = 0;
    ssize_t more;
    while (length < sizeof *cause &&
           (more = read(from, (char *)cause + length, sizeof *cause - length)) > 0)
        length += (size_t)more;
    char file[sizeof cause->file]; /* a name of this machine's, which may have any letters */
    memcpy(file, cause->file, sizeof file);
    memset(cause->file, 0, sizeof cause->file);
    if (length < sizeof *cause || !cause_check(cause)) return false;
    snprintf(cause->file, sizeof cause->file, "%.*s", (int)sizeof file - 1, file);
    return true;
}

void locals_ask(const struct check_options *o, const struct outcome *failed, struct cause *cause) {
    const struct child_limits limits = {15, 120}; /* its own children have theirs */
    int answer[2];
    const int program = program_file(o, failed->shape);
    if (program < 0) return;
    if (pipe(answer) == 0) {
        fcntl(answer[0], F_SETFD, FD_CLOEXEC);
        if (child_quiet(failed->shape, &limits)) run_locals_program(program, answer[1], o, failed);
        close(answer[1]);
        struct cause found;
        if (read_answer(answer[0], &found)) *cause = found;
        close(answer[0]);
    }
    close(program);
}

/* --- in that program -------------------------------------------------------------------------- */

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

void locals_answer(const struct check_options *o) {
    struct cause cause = {.kind = CAUSE_NONE};
    fcntl(o->locals_answer, F_SETFD, FD_CLOEXEC);
    cause_of_locals(o, &cause);
    if (cause.kind && write(o->locals_answer, &cause, sizeof cause) != (ssize_t)sizeof cause)
        exit(EXIT_MACHINE);
    exit(EXIT_PASSED);
}
