/* Running the plain program and reading what it says: see plain.h. */
#define _GNU_SOURCE
#include "plain.h"
#include "../../report/text/text.h"
#include "child.h"
#include "command.h"
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

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
